package tech.bsdb.spark.read;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Which columns a query needs, and what they are made of. Immutable.
 *
 * @param rows the schema of rows as JSON; null if values are plain bytes
 * @param columns the columns, with the types that the query has for them
 * @param keyColumns the columns that the user says keys were made of, if the query relies on it;
 *     otherwise empty
 * @param keyJoin what joins them
 * @param declared all columns of the table, with the types that queries have for them
 */
record RowPlan(
    @Nullable String rows,
    StructType columns,
    List<String> keyColumns,
    String keyJoin,
    StructType declared)
    implements Serializable {
  /** Copies the list. */
  RowPlan {
    keyColumns = List.copyOf(keyColumns);
  }
}
