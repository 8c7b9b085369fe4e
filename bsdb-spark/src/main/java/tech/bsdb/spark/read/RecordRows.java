package tech.bsdb.spark.read;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;
import tech.bsdb.spark.rows.Narrowing;
import tech.bsdb.spark.rows.SparkValues;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowDecoder;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;

/** Makes rows of Spark from the keys and values of records. Not thread-safe. */
final class RecordRows {
  private static final int FROM_KEY = -1;
  private static final int FROM_VALUE = -2;

  private final StructField[] columns;

  /** Where the value of each column comes from: {@code FROM_...}, or the decoded columns. */
  private final int[] sources;

  private final Narrowing[] narrowings;
  private final @Nullable RowDecoder decoder;
  private final boolean readsValues;

  RecordRows(RowPlan plan) {
    columns = plan.columns().fields();
    sources = new int[columns.length];
    narrowings = new Narrowing[columns.length];
    String rows = plan.rows();
    RowSchema schema = rows == null ? null : RowSchema.parse(rows);
    List<String> stored = schema == null ? List.of() : schema.columns();
    List<String> wanted = Arrays.stream(columns).map(StructField::name).toList();
    List<String> decoded = stored.stream().filter(wanted::contains).toList();
    boolean readsValues = !decoded.isEmpty();
    for (int i = 0; i < columns.length; i++) {
      String name = columns[i].name();
      narrowings[i] = Narrowing.to(columns[i].dataType());
      sources[i] =
          schema == null
              ? name.equals(StoredTable.VALUE) ? FROM_VALUE : FROM_KEY
              : decoded.contains(name) ? decoded.indexOf(name) : FROM_KEY;
      readsValues |= sources[i] == FROM_VALUE;
    }
    this.readsValues = readsValues;
    this.decoder =
        schema == null || decoded.isEmpty()
            ? null
            : new RowDecoder(RowForm.of(schema).withColumns(decoded), new SparkValues());
  }

  /** Whether any column comes from the values of records. */
  boolean readsValues() {
    return readsValues;
  }

  /**
   * Makes a row.
   *
   * @param value not used unless the rows need it
   * @throws BadRowException if the value is not a row of the schema
   */
  InternalRow row(byte[] key, byte[] value) throws BadRowException {
    @Nullable Object[] decoded =
        decoder == null ? new @Nullable Object[0] : decoder.decode(value, 0, value.length);
    @Nullable Object[] cells = new @Nullable Object[columns.length];
    for (int i = 0; i < cells.length; i++) {
      if (sources[i] < 0) {
        byte[] bytes = sources[i] == FROM_KEY ? key : value;
        cells[i] =
            columns[i].dataType() instanceof StringType ? UTF8String.fromBytes(bytes) : bytes;
      } else {
        Object cell = decoded[sources[i]];
        cells[i] = cell == null ? null : narrowings[i].narrow(cell);
      }
    }
    return new GenericInternalRow(cells);
  }

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
}
