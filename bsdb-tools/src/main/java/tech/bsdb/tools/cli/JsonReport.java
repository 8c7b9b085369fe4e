package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.JsonCopier;

/** A report for programs: exactly one JSON object, on one line. */
public final class JsonReport {
  private static final JsonFactory JSON =
      new JsonFactory().disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);

  private JsonReport() {}

  /**
   * Prints a map of strings, numbers, booleans, moments (to the second), nulls, lists and maps, in
   * iteration order, to standard output.
   */
  public static void print(Console console, Map<String, ?> report) throws IOException {
    write(console.out(), report);
  }

  /** A report value for text that is already JSON; text that is not is written as a string. */
  public static Object text(String json) {
    byte[] bytes = json.getBytes(UTF_8);
    JsonBuffer copy = new JsonBuffer();
    return new JsonCopier(copy).copy(bytes, 0, bytes.length) == JsonCopier.Outcome.COPIED
        ? new Text(new String(copy.bytes(), 0, copy.length(), UTF_8))
        : json;
  }

  private record Text(String json) {}

  /** Writes such a map to a stream and leaves the stream open. */
  public static void write(OutputStream out, Map<String, ?> report) throws IOException {
    JsonGenerator json = JSON.createGenerator(out);
    write(report, json);
    json.writeRaw('\n');
    json.flush();
  }

  private static void write(@Nullable Object value, JsonGenerator json) throws IOException {
    if (value instanceof Map<?, ?> map) {
      json.writeStartObject();
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        json.writeFieldName(String.valueOf(entry.getKey()));
        write(entry.getValue(), json);
      }
      json.writeEndObject();
    } else if (value instanceof Iterable<?> list) {
      json.writeStartArray();
      for (Object element : list) {
        write(element, json);
      }
      json.writeEndArray();
    } else if (value instanceof Instant moment) {
      json.writeString(moment.truncatedTo(ChronoUnit.SECONDS).toString());
    } else if (value instanceof Text text) {
      json.writeRawValue(text.json);
    } else {
      json.writePOJO(value);
    }
  }
}
