package tech.bsdb.tools.input;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.JsonParsers;

/**
 * Lines of one JSON object each: the key is the text of one of its fields, the value is the whole
 * line.
 */
final class JsonFields implements LineFields {
  private final String keyField;
  private final Admission admission;
  private final CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();

  JsonFields(String keyField, Admission admission) {
    this.keyField = keyField;
    this.admission = admission;
  }

  @Override
  public @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
      throws IOException {
    if (!JsonParsers.beginsAsObject(bytes, from, to)) {
      return Defect.NOT_JSON;
    }
    String key = null;
    Defect defect = Defect.NO_KEY_FIELD;
    try (JsonParser json = JsonParsers.of(bytes, from, to)) {
      json.nextToken();
      while (json.nextToken() != JsonToken.END_OBJECT) {
        boolean isKey = keyField.equals(json.currentName());
        JsonToken value = json.nextToken();
        if (isKey && defect != Defect.NO_KEY_FIELD) {
          defect = Defect.KEY_FIELD_TWICE;
        } else if (isKey) {
          boolean text = value.isScalarValue() && value != JsonToken.VALUE_NULL;
          defect = text ? null : Defect.KEY_FIELD_NOT_TEXT;
          key = text ? json.getText() : null;
        }
        json.skipChildren();
      }
      if (json.nextToken() != null) {
        return Defect.NOT_JSON;
      }
    } catch (JsonProcessingException malformed) {
      return Defect.NOT_JSON;
    }
    if (key == null || defect != null) {
      return defect;
    }
    if (!utf8.canEncode(key)) {
      return Defect.KEY_NOT_IN_ENCODING; // a lone surrogate
    }
    byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
    return admission.admit(keyBytes, 0, keyBytes.length, bytes, from, to - from, records);
  }
}
