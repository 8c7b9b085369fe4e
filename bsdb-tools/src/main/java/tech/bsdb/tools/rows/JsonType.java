package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.avro.Schema;

/** A type of the schema that takes values in JSON. For one thread. */
abstract class JsonType {
  /**
   * The type for a schema.
   *
   * @throws IllegalArgumentException if no row can be written with it
   */
  static JsonType of(Schema schema) {
    return of(schema, new IdentityHashMap<>());
  }

  /** As the other; records that were met before are those of the map. */
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

  /** Whether the type may have values that begin so. */
  abstract boolean takes(JsonToken token);

  /** Writes the value that begins with that token; the parser is at its end afterwards. */
  abstract void put(JsonToken token, JsonLine line) throws IOException, BadFieldException;

  /** What a value is that fits, as in "is not a list". */
  abstract String name();

  final BadFieldException misfit(JsonToken token, JsonLine line) throws IOException {
    return BadFieldException.value(line.shown(token), "is not " + name());
  }
}
