package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** A scalar type, including the null type. */
final class JsonScalar extends JsonType {
  /** Null for the null type. */
  private final @Nullable ScalarText text;

  private JsonScalar(@Nullable ScalarText text) {
    this.text = text;
  }

  static JsonScalar ofScalar(Schema schema) {
    return new JsonScalar(ScalarText.of(schema));
  }

  @Override
  boolean accepts(JsonToken token) {
    return text == null ? token == JsonToken.VALUE_NULL : accepts(token, false);
  }

  /**
   * Whether it may accept values that begin with a token; if {@code exactly}, only in the form that
   * a database returns.
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
