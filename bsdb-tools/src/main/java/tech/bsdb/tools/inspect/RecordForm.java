package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;

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
  private static final JsonFactory JSON =
      new JsonFactory()
          .setRootValueSeparator(null)
          .disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);

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

  /** A generator for {@link #writeJson}; to be flushed, not closed. */
  static JsonGenerator generator(Console console) throws IOException {
    return JSON.createGenerator(console.out());
  }

  /**
   * Writes a record as an object on a line of its own; the value is null where the key is absent.
   */
  void writeJson(JsonGenerator generator, byte[] keyBytes, byte @Nullable [] valueBytes)
      throws IOException {
    generator.writeStartObject();
    generator.writeFieldName("key");
    write(generator, key, keyBytes);
    generator.writeFieldName("value");
    if (valueBytes == null) {
      generator.writeNull();
    } else {
      write(generator, value, valueBytes);
    }
    generator.writeEndObject();
    generator.writeRaw('\n');
  }

  private static void write(JsonGenerator generator, Encoding encoding, byte[] bytes)
      throws IOException {
    if (encoding != Encoding.UTF8) {
      generator.writeString(encoding.encode(bytes));
      return;
    }
    try {
      generator.writeString(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException notText) {
      generator.writeStartObject();
      generator.writeStringField("base64", Base64.getEncoder().encodeToString(bytes));
      generator.writeEndObject();
    }
  }
}
