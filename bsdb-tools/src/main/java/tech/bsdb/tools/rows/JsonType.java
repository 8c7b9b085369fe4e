package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.avro.Schema;

/** A type of the schema that reads JSON values. Not thread-safe. */
abstract class JsonType {
  /**
   * Creates the type for a schema.
   *
   * @throws IllegalArgumentException if the schema cannot be used for rows
   */
  static JsonType of(Schema schema) {
    return of(schema, new IdentityHashMap<>());
  }

  /** Creates the type for a schema; records already seen are in the map. */
  static JsonType of(Schema schema, Map<Schema, JsonRecord> records) {
    return switch (schema.getType()) {
      case RECORD -> {
        JsonRecord known = records.get(schema);
        yield known == null ? JsonRecord.ofRecord(schema, records) : known;
      }
      case ARRAY -> new JsonArray(of(schema.getElementType(), records));
      case MAP -> new JsonMap(of(schema.getValueType(), records));
      case UNION -> JsonUnion.ofUnion(schema, records);
      default -> JsonScalar.ofScalar(schema);
    };
  }

  /** Whether the type may have values that begin with a token. */
  abstract boolean accepts(JsonToken token);

  /** Writes the value that begins with a token; the parser is then at its end. */
  abstract void put(JsonToken token, JsonLine line) throws IOException, BadFieldException;

  /** Returns what a fitting value is called, as in "is not a list". */
  abstract String name();

  final BadFieldException misfit(JsonToken token, JsonLine line) throws IOException {
    return BadFieldException.value(line.shown(token), "is not " + name());
  }
}
