package tech.bsdb.tools.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Map;

/** A report for programs: exactly one JSON object, on one line of standard output. */
public final class JsonReport {
  private static final JsonFactory JSON =
      new JsonFactory().disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);

  private JsonReport() {}

  /** Prints maps of strings, numbers, booleans and maps, in their order. */
  public static void print(Console console, Map<String, ?> report) throws IOException {
    JsonGenerator json = JSON.createGenerator(console.out());
    write(report, json);
    json.writeRaw('\n');
    json.flush();
  }

  private static void write(Object value, JsonGenerator json) throws IOException {
    if (value instanceof Map<?, ?> map) {
      json.writeStartObject();
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        json.writeFieldName(String.valueOf(entry.getKey()));
        write(entry.getValue(), json);
      }
      json.writeEndObject();
    } else {
      json.writePOJO(value);
    }
  }
}
