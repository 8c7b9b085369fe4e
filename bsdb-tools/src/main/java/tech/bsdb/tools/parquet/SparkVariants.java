package tech.bsdb.tools.parquet;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;
import tech.bsdb.tools.rows.SparkSchema;

/**
 * Finds the columns of Spark's type VARIANT. Spark 4.0 writes them as plain structs of binary
 * fields, and tells only in its own schema, in the footer, what they are.
 */
final class SparkVariants {
  private static final String SCHEMA = "org.apache.spark.sql.parquet.row.metadata";

  private SparkVariants() {}

  /**
   * Returns a file's schema with the logical type VARIANT where Spark's schema says so.
   *
   * @param metadata keys and values of the footer
   */
  static MessageType marked(MessageType file, Map<String, String> metadata) {
    String schema = metadata.get(SCHEMA);
    if (schema == null) {
      return file;
    }
    Set<String> columns = SparkSchema.columnsOf("variant", schema);
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
}
