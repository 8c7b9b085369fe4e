package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Creates parsers of UTF-8 JSON without limits of their own. */
public final class JsonParsers {
  private static final JsonFactory JSON =
      new JsonFactoryBuilder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .configure(JsonFactory.Feature.INTERN_FIELD_NAMES, false)
          .configure(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW, false)
          .build();

  private JsonParsers() {}

  /** Creates a parser of a range of bytes. */
  public static JsonParser of(byte[] bytes, int from, int to) throws IOException {
    return JSON.createParser(bytes, from, to - from);
  }

  /** Creates a parser of empty input. */
  static JsonParser ofNothing() {
    try {
      return of(new byte[0], 0, 0);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /**
   * Whether the bytes begin like an object in UTF-8. The parser itself would guess another encoding
   * if there are zeros between the characters, or skip a byte-order mark.
   */
  public static boolean beginsAsObject(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\r')) {
      at++;
    }
    return to - at >= 2 && bytes[at] == '{' && bytes[at + 1] != 0;
  }
}
