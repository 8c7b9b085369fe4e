package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/** The schema of rows in Spark's JSON, which Spark keeps beside the one of a file's format. */
public final class SparkSchema {
  /** The depth of a column's end: an object in a list in an object. */
  private static final int COLUMN_END = 2;

  private SparkSchema() {}

  /**
   * Returns the columns that are, or contain, a type of this name; none if the schema is not
   * Spark's.
   */
  public static Set<String> columnsOf(String type, String schema) {
    Set<String> found = new HashSet<>();
    byte[] bytes = schema.getBytes(UTF_8);
    try (JsonParser json = JsonParsers.of(bytes, 0, bytes.length)) {
      String column = "";
      boolean has = false;
      int depth = 0;
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        boolean isName = "name".equals(json.currentName());
        if (token == JsonToken.FIELD_NAME && "metadata".equals(json.currentName())) {
          json.nextToken();
          json.skipChildren(); // a column's comments, which may say anything
        } else if (token == JsonToken.VALUE_STRING && isName) {
          column = depth == COLUMN_END + 1 ? json.getText() : column;
        } else if (token == JsonToken.VALUE_STRING) {
          has |= json.getText().equals(type);
        } else if (token == JsonToken.END_OBJECT && depth == COLUMN_END) {
          if (has) {
            found.add(column);
          }
          has = false;
        }
      }
    } catch (IOException notSparks) {
      return found;
    }
    return found;
  }
}
