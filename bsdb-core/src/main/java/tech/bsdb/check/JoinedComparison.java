package tech.bsdb.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import tech.bsdb.DiffReport;
import tech.bsdb.data.DataFile;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.PackedLocator;

/**
 * Compares two packed databases, or sets, whose records lie in the same order, that of their
 * signatures. Threads join ranges of signatures, which the indexes lead to, and this thread reports
 * their differences in order. Not thread-safe.
 */
final class JoinedComparison {
  /** About how many pages of both databases make a range: 8 MiB. */
  private static final long RANGE_PAGES = 2048;

  private final Lookup before;
  private final Lookup after;
  private final Reporter reporter;
  private final List<DataFile> opened = new ArrayList<>();
  private DiffReport counts = new DiffReport(0, 0, 0, 0);

  /** The records of each database so far. */
  private final long[] recordsBefore;

  private final long[] recordsAfter;

  JoinedComparison(Lookup before, Lookup after, Reporter reporter) {
    this.before = before;
    this.after = after;
    this.reporter = reporter;
    this.recordsBefore = new long[before.opened().databases().size()];
    this.recordsAfter = new long[recordsBefore.length];
  }

  DiffReport run(int threads) throws IOException {
    try {
      try (OrderedTasks<JoinedRange> tasks =
          new OrderedTasks<>("bsdb-diff", threads, 2 * threads, this::take)) {
        for (int i = 0; i < recordsBefore.length; i++) {
          submit(i, tasks);
        }
        tasks.drain();
      } catch (ExecutionException e) {
        throw OrderedTasks.failure(e);
      }
      for (int i = 0; i < recordsBefore.length; i++) {
        requireCounted(before, i, recordsBefore[i]);
        requireCounted(after, i, recordsAfter[i]);
      }
      return counts;
    } finally {
      for (DataFile file : opened) {
        file.close();
      }
    }
  }

  private void submit(int number, OrderedTasks<JoinedRange> tasks)
      throws IOException, ExecutionException {
    List<DataFile> old = open(before, number);
    List<DataFile> now = open(after, number);
    BinIndex oldIndex = index(before, number);
    BinIndex nowIndex = index(after, number);
    SignatureFunction function = SignatureFunction.of(Comparison.facts(before, number));
    long ranges =
        Math.max(
            1,
            Math.min(
                (oldIndex.pages() + nowIndex.pages()) / RANGE_PAGES,
                Math.max(oldIndex.bins(), nowIndex.bins())));
    long step = ranges == 1 ? 0 : Long.divideUnsigned(-1L, ranges) + 1;
    for (long i = 0; i < ranges; i++) {
      JoinedRecords.Range range =
          new JoinedRecords.Range(i * step, i == ranges - 1 ? 0 : (i + 1) * step);
      tasks.submit(
          () ->
              new JoinedRange(
                      number,
                      new JoinedRecords(old, oldIndex, function, range),
                      new JoinedRecords(now, nowIndex, function, range),
                      reporter)
                  .join());
    }
  }

  private List<DataFile> open(Lookup database, int number) throws IOException {
    List<DataFile> files = database.dataFiles(number);
    opened.addAll(files);
    return files;
  }

  private static BinIndex index(Lookup database, int number) throws IOException {
    return database.withLocators(
        route -> ((PackedLocator) Objects.requireNonNull(route.locator(number))).index());
  }

  private void take(JoinedRange range) throws IOException {
    range.report();
    counts = range.plus(counts);
    recordsBefore[range.database()] += range.recordsBefore();
    recordsAfter[range.database()] += range.recordsAfter();
  }

  /** A range that did not see records out of order would miss them here. */
  private static void requireCounted(Lookup database, int number, long found) throws IOException {
    long expected = Comparison.facts(database, number).records();
    if (found != expected) {
      throw Comparison.miscounted(
          database.opened().databases().get(number).path(), expected, found);
    }
  }
}
