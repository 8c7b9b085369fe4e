package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
  private static final class JsonScalar extends JsonType {
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

  /**
   * A union. A row holds the index of a branch and its value. A value belongs to the first branch
   * that accepts it in the form a database returns, else to the first that accepts it at all, such
   * as a number in a string.
   */
  private static final class JsonUnion extends JsonType {
    private static final int NONE = -1;

    private final JsonType[] branches;
    private final int nullBranch;

    /** The only branch besides null, or NONE. */
    private final int onlyBranch;

    private JsonUnion(JsonType[] branches, int nullBranch) {
      this.branches = branches;
      this.nullBranch = nullBranch;
      this.onlyBranch =
          branches.length == 1 && nullBranch == NONE
              ? 0
              : branches.length == 2 && nullBranch != NONE ? 1 - nullBranch : NONE;
    }

    static JsonUnion ofUnion(Schema schema, Map<Schema, JsonRecord> records) {
      if (schema.getTypes().isEmpty()) {
        throw new IllegalArgumentException("a union without branches takes no value");
      }
      JsonType[] branches =
          schema.getTypes().stream()
              .map(type -> JsonType.of(type, records))
              .toArray(JsonType[]::new);
      return new JsonUnion(branches, AbsentField.nullBranch(schema));
    }

    @Override
    boolean accepts(JsonToken token) {
      return Stream.of(branches).anyMatch(branch -> branch.accepts(token));
    }

    @Override
    void put(JsonToken token, JsonLine line) throws IOException, BadFieldException {
      if (token == JsonToken.VALUE_NULL && nullBranch != NONE) {
        line.out.putLong(nullBranch);
      } else if (onlyBranch != NONE) {
        line.out.putLong(onlyBranch);
        branches[onlyBranch].put(token, line);
      } else if (token.isScalarValue()) {
        putScalar(token, line);
      } else {
        putStructure(token, line);
      }
    }

    private void putScalar(JsonToken token, JsonLine line) throws IOException, BadFieldException {
      if (!putScalar(token, line, true) && !putScalar(token, line, false)) {
        throw misfit(token, line);
      }
    }

    private boolean putScalar(JsonToken token, JsonLine line, boolean exactly) throws IOException {
      int mark = line.out.length();
      for (int i = 0; i < branches.length; i++) {
        if (branches[i] instanceof JsonScalar scalar
            && scalar.accepts(token, exactly)
            && (exactly || !scalar.accepts(token, true))) {
          line.out.putLong(i);
          if (scalar.tryPut(token, line) == null) {
            return true;
          }
          line.out.truncate(mark);
        }
      }
      return false;
    }

    private void putStructure(JsonToken token, JsonLine line)
        throws IOException, BadFieldException {
      int candidate = NONE;
      int candidates = 0;
      for (int i = 0; i < branches.length; i++) {
        if (branches[i].accepts(token)) {
          candidate = i;
          candidates++;
        }
      }
      if (candidates == 1) {
        line.out.putLong(candidate);
        branches[candidate].put(token, line);
        return;
      }
      // A branch that has all of the fields is preferred to one that ignores some.
      if (!tryAll(token, line, false)
          && !(line.ignoresExtraFields() && tryAll(token, line, true))) {
        throw misfit(token, line);
      }
    }

    private boolean tryAll(JsonToken token, JsonLine line, boolean ignore)
        throws IOException, BadFieldException {
      for (int i = 0; i < branches.length; i++) {
        if (branches[i].accepts(token) && line.tryAs(branches[i], i, ignore)) {
          return true;
        }
      }
      return false;
    }

    @Override
    String name() {
      return Stream.of(branches).map(JsonType::name).collect(Collectors.joining(", nor "));
    }
  }
}
