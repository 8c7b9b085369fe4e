package tech.bsdb.lake.delta;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lake.delta.DeltaSnapshot.Field;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.where.Cells;
import tech.bsdb.tools.where.ColumnName;
import tech.bsdb.tools.where.ConditionException;
import tech.bsdb.tools.where.RowTest;
import tech.bsdb.tools.where.Verdict;
import tech.bsdb.tools.where.Where;

/** Rules out files by their values of the partition columns. */
final class DeltaFilter {
  private final RowTest test;
  private final List<@Nullable Field> partitions;

  private DeltaFilter(RowTest test, List<@Nullable Field> partitions) {
    this.test = test;
    this.partitions = partitions;
  }

  /**
   * Creates a filter.
   *
   * @param fields the columns of the table
   * @throws InputException if a partition column cannot be compared with a constant
   */
  static DeltaFilter of(String table, Where where, List<Field> fields) throws InputException {
    List<@Nullable Field> partitions = new ArrayList<>();
    List<@Nullable Column> columns = new ArrayList<>();
    for (ColumnName name : where.columns()) {
      Field partition =
          fields.stream()
              .filter(Field::partition)
              .filter(field -> name.parts().equals(List.of(field.column().name())))
              .findFirst()
              .orElse(null);
      partitions.add(partition);
      columns.add(partition == null ? null : partition.column());
    }
    try {
      return new DeltaFilter(where.bind(columns), partitions);
    } catch (ConditionException e) {
      throw new InputException(table + ": " + e.getMessage(), e);
    }
  }

  /**
   * Whether a file may have rows that are wanted.
   *
   * @param values the texts of the partition values by the columns' names in the files
   */
  boolean admits(Map<String, String> values) {
    return test.of(
            number -> {
              Field partition = partitions.get(number);
              return partition == null ? Cells.UNKNOWN : encoded(partition, values);
            })
        != Verdict.NO;
  }

  private static RowBuffer encoded(Field partition, Map<String, String> values) {
    Object value;
    try {
      value =
          PartitionText.value(
              (Scalar) partition.column().type(), values.get(partition.physicalName()));
    } catch (IllegalArgumentException reportedWhenItIsRead) {
      return Cells.UNKNOWN;
    }
    RowBuffer encoded = new RowBuffer();
    if (value == null) {
      return Cells.NULL;
    } else if (value instanceof String text) {
      byte[] utf8 = text.getBytes(UTF_8);
      encoded.putBytes(utf8, 0, utf8.length);
    } else if (value instanceof Integer || value instanceof Long) {
      encoded.putLong(((Number) value).longValue());
    } else {
      return Cells.UNKNOWN;
    }
    return encoded;
  }
}
