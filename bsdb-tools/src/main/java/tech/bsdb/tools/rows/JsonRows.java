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
 * Encodes JSON objects as rows (the forms: docs/guides/rows.md) and extracts the text of the key's
 * field. Not thread-safe.
 */
public final class JsonRows {
  /** The outcome for the key's field after an object was encoded. */
  public enum Key {
    /** There is no such field. */
    ABSENT,
    /** It is a string, a number or a boolean: {@link #key} has its text. */
    FOUND,
    /** It occurs twice. */
    TWICE,
    /** It is null, an object or a list. */
    NOT_TEXT,
    /** It has a lone surrogate. */
    NOT_UNICODE
  }

  private final JsonRecord record;
  private final JsonLine line;
  private final KeyField key;

  /**
   * Creates an encoder for a schema.
   *
   * @param keyField the name of the key's field, which need not be in the schema
   * @param ignoreExtraFields whether fields that are not in the schema are ignored
   * @throws IllegalArgumentException if no row can be written with the schema; the message says why
   */
  public JsonRows(RowSchema schema, String keyField, boolean ignoreExtraFields) {
    this(schema, keyField, null, ignoreExtraFields);
  }

  /**
   * Creates an encoder for a schema, of objects that may have another field besides the key's that
   * is not in the schema.
   *
   * @param marker the name of that field; null for none
   * @throws IllegalArgumentException as the other constructor
   */
  public JsonRows(
      RowSchema schema, String keyField, @Nullable String marker, boolean ignoreExtraFields) {
    rejectEndlessNesting(schema.avro(), newSet(), newSet());
    this.record = JsonRecord.ofRecord(schema.avro(), new IdentityHashMap<>());
    this.line = new JsonLine(ignoreExtraFields);
    this.key = new KeyField(keyField, marker);
  }

  /** Rejects a record type that must contain itself without end. */
  private static void rejectEndlessNesting(
      Schema schema, Set<Schema> enclosing, Set<Schema> checked) {
    if (schema.getType() == Schema.Type.RECORD && !checked.contains(schema)) {
      if (!enclosing.add(schema)) {
        throw new IllegalArgumentException(
            schema.getFullName() + " contains itself without end; make that field nullable");
      }
      schema.getFields().forEach(field -> rejectEndlessNesting(field.schema(), enclosing, checked));
      enclosing.remove(schema);
      checked.add(schema);
    }
  }

  private static Set<Schema> newSet() {
    return Collections.newSetFromMap(new IdentityHashMap<>());
  }

  /**
   * Encodes an object; {@link #row} and {@link #key} return the result.
   *
   * @throws BadFieldException if it is not a row of the schema
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

  /** Returns the last row encoded; valid until the next one. */
  public RowBuffer row() {
    return line.out;
  }

  /** Returns the text of the key's field in UTF-8, if it was {@link Key#FOUND}. */
  public RowBuffer key() {
    return key.text;
  }

  /** Captures the key's field during encoding. */
  static final class KeyField {
    private final String name;
    private final @Nullable String marker;
    private final RowBuffer text = new RowBuffer();
    private Key found = Key.ABSENT;

    KeyField(String name, @Nullable String marker) {
      this.name = name;
      this.marker = marker;
    }

    /** Whether a field may be there though the schema does not have it. */
    boolean allows(String field) {
      return field.equals(name) || field.equals(marker);
    }

    private void begin() {
      found = Key.ABSENT;
      text.reset();
    }

    /** Captures the text of a field if it is the key's. */
    void take(@Nullable String field, JsonToken value, JsonParser json) throws IOException {
      if (!name.equals(field)) {
        return;
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
    }
  }
}
