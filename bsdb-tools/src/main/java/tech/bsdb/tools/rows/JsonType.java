package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** A type of the schema that reads JSON values. Not thread-safe. */
abstract class JsonType {
  /**
   * Creates the type for a schema; records already seen are in the map.
   *
   * @throws IllegalArgumentException if the schema cannot be used for rows
   */
  static JsonType of(Schema schema, Map<Schema, JsonRecord> records) {
    return switch (schema.getType()) {
      case RECORD -> {
        JsonRecord known = records.get(schema);
        yield known == null ? JsonRecord.ofRecord(schema, records) : known;
      }
      case ARRAY -> new JsonArray(of(schema.getElementType(), records));
      case MAP -> new JsonMap(of(schema.getValueType(), records));
      case UNION -> JsonUnion.ofUnion(schema, records);
      default -> new JsonScalar(ScalarText.of(schema));
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

  /** A scalar type, including the null type. */
  static final class JsonScalar extends JsonType {
    /** Null for the null type. */
    private final @Nullable ScalarText text;

    JsonScalar(@Nullable ScalarText text) {
      this.text = text;
    }

    @Override
    boolean accepts(JsonToken token) {
      return text == null ? token == JsonToken.VALUE_NULL : accepts(token, false);
    }

    /**
     * Whether it may accept values that begin with a token; if {@code exactly}, only in the form
     * that a database returns.
     */
    boolean accepts(JsonToken token, boolean exactly) {
      ScalarText.Form form = form(token);
      return text != null && form != null && text.accepts(form, exactly);
    }

    @Override
    void put(JsonToken token, JsonLine line) throws IOException, BadFieldException {
      if (!accepts(token)) {
        throw misfit(token, line);
      }
      String problem = tryPut(token, line);
      if (problem != null) {
        throw BadFieldException.value(line.shown(token), problem);
      }
    }

    /**
     * Writes a value that it may accept.
     *
     * @return null, or what is wrong with the value, with any bytes written
     */
    @Nullable String tryPut(JsonToken token, JsonLine line) throws IOException {
      ScalarText.Form form = form(token);
      if (text == null || form == null) {
        return null;
      }
      JsonParser json = line.json;
      char[] characters = json.getTextCharacters();
      int from = json.getTextOffset();
      return text.put(form, characters, from, from + json.getTextLength(), line.out);
    }

    private static ScalarText.@Nullable Form form(JsonToken token) {
      return switch (token) {
        case VALUE_STRING -> ScalarText.Form.STRING;
        case VALUE_NUMBER_INT -> ScalarText.Form.INTEGER;
        case VALUE_NUMBER_FLOAT -> ScalarText.Form.FRACTION;
        case VALUE_TRUE, VALUE_FALSE -> ScalarText.Form.BOOLEAN;
        default -> null;
      };
    }

    @Override
    String name() {
      return text == null ? "null" : text.name();
    }
  }

  /** A list type. A row holds the length, the elements, and a zero. */
  private static final class JsonArray extends JsonType {
    private final JsonType elements;

    JsonArray(JsonType elements) {
      this.elements = elements;
    }

    @Override
    boolean accepts(JsonToken token) {
      return token == JsonToken.START_ARRAY;
    }

    @Override
    void put(JsonToken token, JsonLine line) throws IOException, BadFieldException {
      if (token != JsonToken.START_ARRAY) {
        throw misfit(token, line);
      }
      line.enter();
      int start = line.out.length();
      int count = 0;
      try {
        for (JsonToken next = line.json.nextToken();
            next != JsonToken.END_ARRAY;
            next = line.json.nextToken()) {
          elements.put(next, line);
          count++;
        }
      } catch (BadFieldException bad) {
        throw bad.in(count);
      }
      if (count > 0) {
        line.out.insertLong(start, count);
      }
      line.out.putLong(0);
      line.leave();
    }

    @Override
    String name() {
      return "a list";
    }
  }

  /** A map type. A row holds the size, each key and its value, and a zero. */
  private static final class JsonMap extends JsonType {
    private final JsonType values;

    JsonMap(JsonType values) {
      this.values = values;
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
      Set<String> keys = line.enter().begin();
      int start = line.out.length();
      while (line.json.nextToken() != JsonToken.END_OBJECT) {
        String key = line.json.currentName();
        try {
          if (!keys.add(key)) {
            throw BadFieldException.because(" comes twice");
          }
          char[] text = key.toCharArray();
          if (!line.out.putText(text, 0, text.length, true)) {
            throw BadFieldException.because(" has a lone surrogate in its name");
          }
          values.put(line.json.nextToken(), line);
        } catch (BadFieldException bad) {
          throw bad.in(key);
        }
      }
      if (!keys.isEmpty()) {
        line.out.insertLong(start, keys.size());
      }
      line.out.putLong(0);
      line.leave();
    }

    @Override
    String name() {
      return "an object";
    }
  }
}
