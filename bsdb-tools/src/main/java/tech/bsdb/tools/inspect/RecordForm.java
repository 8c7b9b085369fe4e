package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.US_ASCII;

import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;

/**
 * How keys and values are written as text: the options {@code --key-encoding}, {@code
 * --value-encoding} and {@code --json}.
 *
 * <p>Without them, bytes are written unchanged.
 *
 * @param json whether records are written as {@link RecordJson.JsonLines}
 */
record RecordForm(Encoding key, Encoding value, boolean json) {
  static RecordForm of(Arguments arguments) throws UsageException {
    return new RecordForm(
        arguments.choice("--key-encoding", Encoding.class, Encoding.UTF8),
        arguments.choice("--value-encoding", Encoding.class, Encoding.UTF8),
        arguments.has("--json"));
  }

  /** The bytes of a typed key, which are arbitrary in {@code utf8}. */
  byte[] keyOf(String typed) throws UsageException {
    return keyOf("key", typed);
  }

  /**
   * The bytes of a typed key.
   *
   * @param name where it was typed, for messages
   */
  byte[] keyOf(String name, String typed) throws UsageException {
    try {
      return key == Encoding.UTF8 ? ArgumentText.bytes(typed) : key.decode(typed);
    } catch (IllegalArgumentException e) {
      throw new UsageException(name + " " + e.getMessage());
    }
  }

  byte[] keyBytes(byte[] bytes) {
    return shown(key, bytes);
  }

  byte[] valueBytes(byte[] bytes) {
    return shown(value, bytes);
  }

  /** Bytes as text in an encoding. */
  static byte[] shown(Encoding encoding, byte[] bytes) {
    return encoding == Encoding.UTF8 ? bytes : encoding.encode(bytes).getBytes(US_ASCII);
  }
}
