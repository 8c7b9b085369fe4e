package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** A record type. A row holds its fields in schema order; a JSON object has them in any order. */
final class JsonRecord extends JsonType {
  private final FieldNames numbers;
  private final String[] names;
  private final JsonType[] types;
  private final byte[] @Nullable [] absent;

  private JsonRecord(Schema schema) {
    this.numbers = new FieldNames(schema);
    int fields = schema.getFields().size();
    this.names = new String[fields];
    this.types = new JsonType[fields];
    this.absent = new byte[fields][];
  }

  static JsonRecord ofRecord(Schema schema, Map<Schema, JsonRecord> records) {
    if (schema.isError()) {
      throw new IllegalArgumentException(
          schema.getFullName() + " is an error type, which no row can have");
    }
    JsonRecord made = new JsonRecord(schema);
    records.put(schema, made);
    List<Schema.Field> fields = schema.getFields();
    for (int i = 0; i < fields.size(); i++) {
      made.names[i] = RowSchema.column(fields.get(i));
      made.types[i] = JsonType.of(fields.get(i).schema(), records);
      made.absent[i] = AbsentField.of(fields.get(i));
    }
    return made;
  }

  @Override
  boolean accepts(JsonToken token) {
    return token == JsonToken.START_OBJECT;
  }

  @Override
  void put(JsonToken token, JsonLine line) throws IOException, BadFieldException {
    if (token != JsonToken.START_OBJECT) {
      throw misfit(token, line);
    }
    put(line, null);
  }

  /** Writes the object at the parser, and captures the key's field if requested. */
  void put(JsonLine line, JsonRows.@Nullable KeyField key) throws IOException, BadFieldException {
    JsonLine.Level level = line.enter();
    level.begin(names.length);
    int start = line.out.length();
    int next = 0;
    int found = 0; // fields at their place in schema order
    while (line.json.nextToken() != JsonToken.END_OBJECT) {
      String name = line.json.currentName();
      int field = next < names.length && names[next].equals(name) ? next : numbers.find(name);
      JsonToken value = line.json.nextToken();
      if (key != null) {
        key.take(name, value, line.json);
      }
      if (field < 0) {
        boolean allowed = key != null && key.allows(name);
        if (!allowed && !line.ignoresExtraFields()) {
          throw BadFieldException.unknown().in(name);
        }
        line.json.skipChildren();
        continue;
      }
      if (level.starts[field] >= 0) {
        throw BadFieldException.because(" comes twice").in(names[field]);
      }
      level.starts[field] = line.out.length();
      try {
        types[field].put(value, line);
      } catch (BadFieldException bad) {
        throw bad.in(names[field]);
      }
      level.ends[field] = line.out.length();
      found += field == next ? 1 : 0;
      next = field + 1;
    }
    if (found < names.length) {
      order(level, start, line);
    }
    line.leave();
  }

  /** Sorts the fields into schema order and adds the absent ones. */
  private void order(JsonLine.Level level, int start, JsonLine line) throws BadFieldException {
    RowBuffer sorted = line.sorted;
    sorted.reset();
    for (int i = 0; i < names.length; i++) {
      int from = level.starts[i];
      if (from >= 0) {
        sorted.put(line.out.bytes(), from, level.ends[i] - from);
      } else if (absent[i] != null) {
        sorted.put(absent[i]);
      } else {
        throw BadFieldException.because(" is missing").in(names[i]);
      }
    }
    line.out.truncate(start);
    line.out.put(sorted.bytes(), 0, sorted.length());
  }

  @Override
  String name() {
    return "an object";
  }
}
