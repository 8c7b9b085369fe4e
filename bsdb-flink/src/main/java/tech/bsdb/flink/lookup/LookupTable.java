package tech.bsdb.flink.lookup;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.connector.source.lookup.AsyncLookupFunctionProvider;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import tech.bsdb.flink.rows.ColumnTypes;
import tech.bsdb.flink.rows.KeyWriter;

/**
 * A table that is joined by its key: {@code JOIN users FOR SYSTEM_TIME AS OF o.proc_time AS u ON
 * o.user_id = u.id}.
 */
public class LookupTable implements LookupTableSource, SupportsProjectionPushDown {
  private final LookupSettings settings;
  private final boolean async;
  private DataType columns;

  /**
   * Creates a table.
   *
   * @param columns the columns, with their types
   * @param async whether lookups run on threads of their own
   */
  protected LookupTable(LookupSettings settings, boolean async, DataType columns) {
    this.settings = settings;
    this.async = async;
    this.columns = columns;
  }

  /** Creates a table, which in Flink 2 also routes rows to the subtask of their shard. */
  public static LookupTable of(LookupSettings settings, boolean async, DataType columns) {
    try {
      return SinceFlink2.of(settings, async, columns);
    } catch (NoClassDefFoundError before2) {
      return new LookupTable(settings, async, columns);
    }
  }

  /** The one class that names {@link RoutedTable}, so that this one can be loaded without it. */
  private static final class SinceFlink2 {
    static LookupTable of(LookupSettings settings, boolean async, DataType columns) {
      return new RoutedTable(settings, async, columns);
    }
  }

  @Override
  public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
    LookupPlan plan = plan(context.getKeys());
    return async
        ? AsyncLookupFunctionProvider.of(new BatchedLookup(plan))
        : LookupFunctionProvider.of(new RowLookup(plan));
  }

  /**
   * Plans lookups with values for some columns.
   *
   * @throws ValidationException if the key is not among them
   */
  final LookupPlan plan(int[][] asked) {
    RowType row = (RowType) columns.getLogicalType();
    List<String> names = row.getFieldNames();
    int[] columnsAsked = new int[asked.length];
    List<String> namesAsked = new ArrayList<>();
    for (int i = 0; i < asked.length; i++) {
      if (asked[i].length != 1) {
        throw new ValidationException(
            "bsdb cannot be joined by a field of column " + names.get(asked[i][0]));
      }
      columnsAsked[i] = asked[i][0];
      namesAsked.add(names.get(asked[i][0]));
    }
    for (String key : settings.keys()) {
      if (!namesAsked.contains(key)) {
        throw new ValidationException(
            ("the join does not compare %s with anything; a row of bsdb is found by its whole key (%s),"
                    + " and a value of another type or precision needs a CAST")
                .formatted(key, String.join(", ", settings.keys())));
      }
    }
    for (int column : columnsAsked) {
      try {
        Object unused = ColumnTypes.scalar(row.getTypeAt(column), names.get(column));
      } catch (IllegalArgumentException e) {
        throw new ValidationException(
            "the join compares a column that has parts: " + e.getMessage());
      }
    }
    return new LookupPlan(settings, row, columnsAsked);
  }

  @Override
  public boolean supportsNestedProjection() {
    return false;
  }

  @Override
  public void applyProjection(int[][] fields, DataType produced) {
    columns = produced;
  }

  @Override
  public DynamicTableSource copy() {
    return of(settings, async, columns);
  }

  @Override
  public String asSummaryString() {
    return "bsdb " + settings.path();
  }

  /**
   * A lookup of rows. Immutable; travels to the task managers.
   *
   * @param columns the columns of the rows
   * @param asked the numbers of the columns that values are given for, in their order
   */
  record LookupPlan(LookupSettings settings, RowType columns, int[] asked) implements Serializable {
    /** The writer of the keys of rows that are looked up. */
    KeyWriter keyWriter() {
      List<Integer> places = new ArrayList<>();
      List<LogicalType> types = new ArrayList<>();
      for (String key : settings.keys()) {
        int column = columns.getFieldNames().indexOf(key);
        places.add(Arrays.stream(asked).boxed().toList().indexOf(column));
        types.add(columns.getTypeAt(column));
      }
      return new KeyWriter(places, types, settings.keys(), settings.keyJoin());
    }
  }
}
