package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;
import tech.bsdb.tools.rows.JsonParsers;

/**
 * Finds the columns of Spark's type VARIANT. Spark 4.0 writes them as plain structs of binary
 * fields, and tells only in its own schema, in the footer, what they are.
 */
final class SparkVariants {
  private static final String SCHEMA = "org.apache.spark.sql.parquet.row.metadata";

  /** The depth of a column's end in Spark's schema: an object in a list in an object. */
  private static final int COLUMN_END = 2;

  private SparkVariants() {}

  /**
   * Returns a file's schema with the logical type VARIANT where Spark's schema says so.
   *
   * @param metadata keys and values of the footer
   */
  static MessageType marked(MessageType file, Map<String, String> metadata) {
    String schema = metadata.get(SCHEMA);
    if (schema == null || !schema.contains("variant")) {
      return file;
    }
    Set<String> columns = columns(schema);
    return new MessageType(
        file.getName(),
        file.getFields().stream()
            .map(field -> columns.contains(field.getName()) ? marked(field) : field)
            .toList());
  }

  private static Type marked(Type type) {
    if (type.isPrimitive()) {
      return type;
    }
    GroupType group = type.asGroupType();
    List<Type> fields = group.getFields();
    boolean variant =
        group.containsField("metadata")
            && (group.containsField("value") || group.containsField("typed_value"));
    return variant
        ? Types.buildGroup(type.getRepetition())
            .as(LogicalTypeAnnotation.variantType((byte) 1))
            .addFields(fields.toArray(new Type[0]))
            .named(type.getName())
        : group.withNewFields(fields.stream().map(SparkVariants::marked).toList());
  }

  /** Returns the columns that are, or contain, a VARIANT. */
  private static Set<String> columns(String schema) {
    Set<String> found = new HashSet<>();
    byte[] bytes = schema.getBytes(UTF_8);
    try (JsonParser json = JsonParsers.of(bytes, 0, bytes.length)) {
      String column = "";
      boolean variant = false;
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
          variant |= json.getText().equals("variant");
        } else if (token == JsonToken.END_OBJECT && depth == COLUMN_END) {
          if (variant) {
            found.add(column);
          }
          variant = false;
        }
      }
    } catch (IOException notSparks) {
      return found;
    }
    return found;
  }
}
