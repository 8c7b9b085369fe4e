package tech.bsdb.tools.parquet;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as the list of its tokens, numbers digit by digit; only those that stand for floating point
 * compare by what they mean.
 */
final class JsonTokens {
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(5_000).build())
          .build();

  private JsonTokens() {}

  /** The members of an object, each with its tokens, in their order. */
  static Map<String, List<String>> members(String object) throws IOException {
    Map<String, List<String>> members = new LinkedHashMap<>();
    try (JsonParser parser = FACTORY.createParser(object)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("not an object: " + object);
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        if (members.put(name, value(parser)) != null) {
          throw new IOException("twice: " + name);
        }
      }
      if (parser.nextToken() != null) {
        throw new IOException("more than an object: " + object);
      }
    }
    return members;
  }

  private static List<String> value(JsonParser parser) throws IOException {
    List<String> tokens = new ArrayList<>();
    int depth = 0;
    do {
      JsonToken token = parser.currentToken();
      switch (token) {
        case FIELD_NAME -> tokens.add("name " + parser.getText());
        case VALUE_STRING -> tokens.add("text " + parser.getText());
        case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> tokens.add("number " + parser.getText());
        default -> tokens.add(token.asString());
      }
      depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
    } while (depth > 0 && parser.nextToken() != null);
    return tokens;
  }

  /**
   * What is found, with each number that an expected one with an exponent agrees with in that one's
   * own digits: "e" where they are the same double, "E" where they are the same float.
   */
  static List<String> inDigitsOf(List<String> expected, List<String> found) {
    List<String> same = new ArrayList<>(found);
    for (int i = 0; i < Math.min(expected.size(), found.size()); i++) {
      if (sameFloatingPoint(expected.get(i), found.get(i))) {
        same.set(i, expected.get(i));
      }
    }
    return same;
  }

  private static boolean sameFloatingPoint(String expected, String found) {
    if (!expected.startsWith("number ") || !found.startsWith("number ")) {
      return false;
    }
    String left = expected.substring("number ".length());
    String right = found.substring("number ".length());
    if (left.indexOf('e') >= 0) {
      return Double.compare(Double.parseDouble(left), Double.parseDouble(right)) == 0;
    }
    return left.indexOf('E') >= 0
        && Float.compare(Float.parseFloat(left), Float.parseFloat(right)) == 0;
  }
}
