package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.CharsetEncoder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.JsonParsers;

/**
 * Finds the key's field of a JSON object, and whether the object is the deletion of its key.
 * Reusable; not thread-safe.
 */
final class JsonMembers {
  private static final byte[] NOTHING = {};

  private final String keyField;
  private final @Nullable DeleteField deleteField;
  private final CharsetEncoder utf8 = UTF_8.newEncoder();
  private byte[] key = NOTHING;
  private boolean deletes;

  JsonMembers(String keyField, @Nullable DeleteField deleteField) {
    this.keyField = keyField;
    this.deleteField = deleteField;
  }

  /** Reads an object; returns what is wrong with it or its key, or null. */
  @Nullable Defect read(byte[] bytes, int from, int to) throws IOException {
    key = NOTHING;
    deletes = false;
    if (!JsonParsers.beginsAsObject(bytes, from, to)) {
      return Defect.NOT_JSON;
    }
    String text = null;
    Defect defect = Defect.NO_KEY_FIELD;
    boolean marked = false;
    boolean markedTwice = false;
    try (JsonParser json = JsonParsers.of(bytes, from, to)) {
      json.nextToken();
      while (json.nextToken() != JsonToken.END_OBJECT) {
        String name = json.currentName();
        JsonToken value = json.nextToken();
        boolean isText = value.isScalarValue() && value != JsonToken.VALUE_NULL;
        if (keyField.equals(name)) {
          boolean first = defect == Defect.NO_KEY_FIELD;
          defect = !first ? Defect.KEY_FIELD_TWICE : isText ? null : Defect.KEY_FIELD_NOT_TEXT;
          text = first && isText ? json.getText() : null;
        }
        if (deleteField != null && deleteField.field().equals(name)) {
          markedTwice |= marked;
          marked = true;
          deletes = isText && deleteField.value().equals(json.getText());
        }
        json.skipChildren();
      }
      if (json.nextToken() != null) {
        return Defect.NOT_JSON;
      }
    } catch (JsonProcessingException malformed) {
      return Defect.NOT_JSON;
    }
    if (text == null || defect != null) {
      return defect;
    }
    if (markedTwice) {
      return Defect.DELETE_FIELD_TWICE;
    }
    if (!utf8.canEncode(text)) {
      return Defect.KEY_NOT_IN_ENCODING; // a lone surrogate
    }
    key = text.getBytes(UTF_8);
    return null;
  }

  /** The text of the key's field of the last object, unless something was wrong. */
  byte[] key() {
    return key;
  }

  /** Whether the last object is the deletion of its key. */
  boolean deletes() {
    return deletes;
  }
}
