package tech.bsdb.tools.parquet;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BinaryOperator;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.compat.RowGroupFilter;
import org.apache.parquet.filter2.compat.RowGroupFilter.FilterLevel;
import org.apache.parquet.filter2.predicate.FilterApi;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.table.PartitionValue;
import tech.bsdb.tools.where.Cells;
import tech.bsdb.tools.where.RowTest;
import tech.bsdb.tools.where.Verdict;

/**
 * Rules out row groups by their statistics, dictionaries and Bloom filters. The library evaluates
 * them, since it knows which of them, by which writers, cannot be trusted. A part of the condition
 * for which it has no predicate counts as true; as there is no NOT, this only keeps more row
 * groups. Immutable.
 */
final class RowGroupPruning {
  private static final List<FilterLevel> FOOTER = List.of(FilterLevel.STATISTICS);
  private static final List<FilterLevel> CONTENT =
      List.of(FilterLevel.DICTIONARY, FilterLevel.BLOOMFILTER);

  private final RowSelection selection;
  private final LegacyCalendar calendar;
  private final Verdict verdict;
  private final @Nullable FilterPredicate ofFooter;
  private final @Nullable FilterPredicate ofContent;

  /** Creates the pruning of a file. */
  RowGroupPruning(RowSelection selection, LegacyCalendar calendar) {
    this.selection = selection;
    this.calendar = calendar;
    RowTest test = selection.test();
    this.verdict = test == null ? Verdict.YES : test.of(cells());
    if (test == null || verdict != Verdict.MAYBE) {
      this.ofFooter = null;
      this.ofContent = null;
    } else {
      this.ofFooter = predicate(test, false).orElse(null);
      this.ofContent = predicate(test, true).orElse(null);
    }
  }

  /** Returns what is the same in all rows. */
  private Cells cells() {
    return number -> {
      RowSelection.Key cell = selection.cells().get(number);
      PartitionValue partition = cell.partition();
      return partition != null
          ? partition.value()
          : cell.equals(RowSelection.Key.MISSING) ? Cells.NULL : Cells.UNKNOWN;
    };
  }

  /** Whether it rules nothing out. */
  boolean isVoid() {
    return verdict != Verdict.NO && ofFooter == null;
  }

  /** Returns the indexes of the row groups that may have rows that are wanted. */
  Set<Integer> keep(List<BlockMetaData> blocks, ParquetFileReader reader) {
    Set<Integer> kept = new HashSet<>();
    for (int i = 0; i < blocks.size() && verdict != Verdict.NO; i++) {
      List<BlockMetaData> left = filter(FOOTER, ofFooter, List.of(blocks.get(i)), reader);
      if (!filter(CONTENT, ofContent, left, reader).isEmpty()) {
        kept.add(i);
      }
    }
    return kept;
  }

  private static List<BlockMetaData> filter(
      List<FilterLevel> levels,
      @Nullable FilterPredicate predicate,
      List<BlockMetaData> blocks,
      ParquetFileReader reader) {
    return predicate == null
        ? blocks
        : RowGroupFilter.filterRowGroups(levels, FilterCompat.get(predicate), blocks, reader);
  }

  /**
   * Translates a test.
   *
   * @param content whether the predicate is for dictionaries and Bloom filters, which are read
   */
  private Optional<FilterPredicate> predicate(RowTest test, boolean content) {
    Verdict same = test.of(cells());
    if (same == Verdict.YES) {
      return Optional.empty();
    }
    if (test instanceof RowTest.AllOf all) {
      List<FilterPredicate> predicates = new ArrayList<>();
      for (RowTest part : all.tests()) {
        predicate(part, content).ifPresent(predicates::add);
      }
      return joined(predicates, FilterApi::and);
    }
    if (test instanceof RowTest.AnyOf any) {
      List<FilterPredicate> predicates = new ArrayList<>();
      for (RowTest part : any.tests()) {
        if (part.of(cells()) != Verdict.NO) {
          Optional<FilterPredicate> predicate = predicate(part, content);
          if (predicate.isEmpty()) {
            return Optional.empty();
          }
          predicates.add(predicate.get());
        }
      }
      return joined(predicates, FilterApi::or);
    }
    int column = column(test);
    return column < 0
        ? Optional.empty()
        : ColumnPredicates.of(selection.cells().get(column).path(), selection.file(), calendar)
            .of(test, content);
  }

  /** Returns the number of the column of a test; -1 if it is not one of the file. */
  private int column(RowTest test) {
    int column =
        test instanceof RowTest.Comparison comparison
            ? comparison.column()
            : test instanceof RowTest.Membership membership
                ? membership.column()
                : test instanceof RowTest.NullTest nulls
                    ? nulls.column()
                    : test instanceof RowTest.TextMatch match ? match.column() : -1;
    return column >= 0 && selection.cells().get(column).path().isEmpty() ? -1 : column;
  }

  /** Joins predicates to a tree that is not deep. */
  static Optional<FilterPredicate> joined(
      List<FilterPredicate> predicates, BinaryOperator<FilterPredicate> how) {
    List<FilterPredicate> level = predicates;
    while (level.size() > 1) {
      List<FilterPredicate> next = new ArrayList<>();
      for (int i = 0; i < level.size(); i += 2) {
        next.add(i + 1 < level.size() ? how.apply(level.get(i), level.get(i + 1)) : level.get(i));
      }
      level = next;
    }
    return level.stream().findFirst();
  }
}
