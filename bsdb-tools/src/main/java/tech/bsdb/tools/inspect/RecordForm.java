package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * How keys and values are written as text: the options {@code --key-encoding}, {@code
 * --value-encoding} and {@code --json}.
 *
 * <p>Without them bytes come out as they are. In JSON they are a string where they are UTF-8, and
 * {@code {"base64":"..."}} where they are not; with an encoding they are always a string.
 *
 * @param json whether {@link #writeJson} is asked for
 */
record RecordForm(Encoding key, Encoding value, boolean json) {
  private static final byte[] KEY = "{\"key\":".getBytes(US_ASCII);
  private static final byte[] VALUE = ",\"value\":".getBytes(US_ASCII);
  private static final byte[] NULL = "null".getBytes(US_ASCII);
  private static final byte[] END = "}\n".getBytes(US_ASCII);

  static Syntax declare(Syntax syntax) {
    return syntax
        .value(
            "--key-encoding",
            "FORM",
            "keys as text: utf8 (default: the bytes as they are), hex or base64")
        .value("--value-encoding", "FORM", "the same for values");
  }

  static RecordForm of(Arguments arguments) throws UsageException {
    return new RecordForm(
        arguments.choice("--key-encoding", Encoding.class, Encoding.UTF8),
        arguments.choice("--value-encoding", Encoding.class, Encoding.UTF8),
        arguments.has("--json"));
  }

  /** The key that somebody typed. */
  byte[] keyOf(String typed) throws UsageException {
    try {
      return key.decode(typed);
    } catch (IllegalArgumentException e) {
      throw new UsageException("key " + e.getMessage());
    }
  }

  byte[] keyBytes(byte[] bytes) {
    return shown(key, bytes);
  }

  byte[] valueBytes(byte[] bytes) {
    return shown(value, bytes);
  }

  private static byte[] shown(Encoding encoding, byte[] bytes) {
    return encoding == Encoding.UTF8 ? bytes : encoding.encode(bytes).getBytes(US_ASCII);
  }

  /**
   * Writes a record as an object on a line of its own; the value is null where the key is absent.
   *
   * @param line what the line is made in; used again for the next
   */
  void writeJson(JsonBuffer line, OutputStream out, byte[] keyBytes, byte @Nullable [] valueBytes)
      throws IOException {
    line.reset();
    line.put(KEY);
    write(line, key, keyBytes);
    line.put(VALUE);
    if (valueBytes == null) {
      line.put(NULL);
    } else {
      write(line, value, valueBytes);
    }
    line.put(END);
    out.write(line.bytes(), 0, line.length());
  }

  private static void write(JsonBuffer line, Encoding encoding, byte[] bytes) {
    byte[] text = shown(encoding, bytes);
    line.putText(text, 0, text.length);
  }
}
