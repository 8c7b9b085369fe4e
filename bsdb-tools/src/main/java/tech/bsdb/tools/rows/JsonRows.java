package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Encodes JSON objects as rows (the forms: OPERATIONS.md "Typed rows from text"), and tells the
 * text of one field, the key's, on the way. Not thread-safe.
 */
public final class JsonRows {
  /** What is known of the key's field once an object was encoded. */
  public enum Key {
    /** There is no such field. */
    ABSENT,
    /** It is a string, a number or a boolean: {@link #key} has its text. */
    FOUND,
    /** It comes twice. */
    TWICE,
    /** It is null, an object or a list. */
    NOT_TEXT,
    /** It has half of a surrogate pair. */
    NOT_UNICODE
  }

  private final JsonRecord record;
  private final JsonLine line;
  private final KeyField key;

  /**
   * For a schema.
   *
   * @param keyField the name of the key's field, which need not be in the schema
   * @param ignoreExtraFields whether fields that the schema does not have are passed over
   * @throws IllegalArgumentException if no row can be written with the schema; the message says why
   */
  public JsonRows(RowSchema schema, String keyField, boolean ignoreExtraFields) {
    checkEnds(schema.avro(), newSet(), newSet());
    this.record = JsonRecord.ofRecord(schema.avro(), new IdentityHashMap<>());
    this.line = new JsonLine(ignoreExtraFields);
    this.key = new KeyField(keyField);
  }

  /** Refuses a record that has to have another of its kind inside, and so on without end. */
  private static void checkEnds(Schema schema, Set<Schema> around, Set<Schema> checked) {
    if (schema.getType() == Schema.Type.RECORD && !checked.contains(schema)) {
      if (!around.add(schema)) {
        throw new IllegalArgumentException(
            schema.getFullName() + " has itself as a field, without end; let it be null there");
      }
      schema.getFields().forEach(field -> checkEnds(field.schema(), around, checked));
      around.remove(schema);
      checked.add(schema);
    }
  }

  private static Set<Schema> newSet() {
    return Collections.newSetFromMap(new IdentityHashMap<>());
  }

  /**
   * Encodes an object; {@link #row} and {@link #key} have the outcome.
   *
   * @throws BadFieldException if it is no row of the schema
   * @throws com.fasterxml.jackson.core.JsonProcessingException if it is not JSON, or not an object
   */
  public Key encode(byte[] json, int from, int to) throws IOException, BadFieldException {
    key.begin();
    try (JsonParser parser = JsonParsers.of(json, from, to)) {
      line.begin(json, from, to, parser);
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw line.notAnObject();
      }
      record.put(line, key);
      line.finish();
    } finally {
      line.release();
    }
    return key.found;
  }

  /** The row that was encoded last; valid until the next one. */
  public RowBuffer row() {
    return line.out;
  }

  /** The text of the key's field, in UTF-8, where it was {@link Key#FOUND}. */
  public RowBuffer key() {
    return key.text;
  }

  /** The key's field on the way. */
  static final class KeyField {
    private final String name;
    private final RowBuffer text = new RowBuffer();
    private Key found = Key.ABSENT;

    KeyField(String name) {
      this.name = name;
    }

    private void begin() {
      found = Key.ABSENT;
      text.reset();
    }

    /** Takes its text if a field is the key's; tells whether it is. */
    boolean take(@Nullable String field, JsonToken value, JsonParser json) throws IOException {
      if (!name.equals(field)) {
        return false;
      }
      if (found != Key.ABSENT) {
        found = Key.TWICE;
      } else if (!value.isScalarValue() || value == JsonToken.VALUE_NULL) {
        found = Key.NOT_TEXT;
      } else {
        int from = json.getTextOffset();
        int to = from + json.getTextLength();
        found =
            text.putText(json.getTextCharacters(), from, to, false) ? Key.FOUND : Key.NOT_UNICODE;
      }
      return true;
    }
  }
}
