package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** A list type. A row holds the length, the elements, and a zero. */
final class JsonArray extends JsonType {
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
