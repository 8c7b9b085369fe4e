package tech.bsdb.tools.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.where.Cells;
import tech.bsdb.tools.where.ColumnName;
import tech.bsdb.tools.where.ConditionException;
import tech.bsdb.tools.where.RowTest;
import tech.bsdb.tools.where.Verdict;
import tech.bsdb.tools.where.Where;

/**
 * Rules files out by the values from their directories, so that they need not be opened. A column
 * of the files themselves would take precedence over that of their directories; this is known only
 * when some of them are open. Immutable.
 *
 * @param test the condition, which knows only of columns from directories
 * @param columns the columns of the condition that come from directories; null for others
 */
public record PartitionPruning(RowTest test, List<@Nullable Column> columns) {
  /** Creates a pruning; without a condition, or one on partitions, it rules nothing out. */
  public static Optional<PartitionPruning> of(@Nullable Where where, PartitionColumns partitions) {
    List<@Nullable Column> columns = new ArrayList<>();
    for (ColumnName name : where == null ? List.<ColumnName>of() : where.columns()) {
      Optional<Column> column = AnyCase.field(partitions.columns(), Column::name, name.text());
      boolean whole = name.parts().size() == 1; // otherwise it may be a field of the files
      columns.add(whole ? column.orElse(null) : null);
    }
    if (where == null || columns.stream().allMatch(column -> column == null)) {
      return Optional.empty();
    }
    try {
      return Optional.of(new PartitionPruning(where.bind(columns), columns));
    } catch (ConditionException asOpeningTheFilesWillShow) {
      return Optional.empty();
    }
  }

  /**
   * Returns the files that may have rows that are wanted; the first file if none has, so that there
   * is a schema.
   *
   * @param valuesOf returns the values from a file's directories, by column
   */
  public <F> List<F> keep(List<F> files, Function<F, Map<String, PartitionValue>> valuesOf) {
    List<F> kept = files.stream().filter(file -> mayMatch(valuesOf.apply(file))).toList();
    return kept.isEmpty() ? files.subList(0, Math.min(1, files.size())) : kept;
  }

  private boolean mayMatch(Map<String, PartitionValue> values) {
    Cells cells =
        number -> {
          Column column = columns.get(number);
          PartitionValue value = column == null ? null : values.get(column.name());
          return value == null ? Cells.UNKNOWN : value.value();
        };
    return test.of(cells) != Verdict.NO;
  }

  /** Whether one of some files has a column of its own, so that all files must be opened. */
  public boolean isVoid(List<? extends FileColumns> files) {
    for (Column column : columns) {
      if (column != null && files.stream().anyMatch(file -> file.hasColumn(column.name()))) {
        return true;
      }
    }
    return false;
  }
}
