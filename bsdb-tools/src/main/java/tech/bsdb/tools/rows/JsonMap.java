package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Set;

/** A map type. A row holds the size, each key and its value, and a zero. */
final class JsonMap extends JsonType {
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
