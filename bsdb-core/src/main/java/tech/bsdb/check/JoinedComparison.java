package tech.bsdb.check;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import tech.bsdb.DiffReport;
import tech.bsdb.data.DataFile;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.io.Resources;
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
  private final Resources opened = new Resources();

  /** The counts of each database of the sets. */
  private final List<Tally> tallies = new ArrayList<>();

  JoinedComparison(Lookup before, Lookup after, Reporter reporter) {
    this.before = before;
    this.after = after;
    this.reporter = reporter;
  }

  DiffReport run(int threads) throws IOException {
    int databases = before.opened().databases().size();
    try (opened;
        OrderedTasks<Join> tasks =
            new OrderedTasks<>("bsdb-diff", threads, 2 * threads, this::take)) {
      for (int i = 0; i < databases; i++) {
        tallies.add(new Tally(reporter));
        submit(i, tasks);
      }
      tasks.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
    Tally all = new Tally(reporter);
    for (int i = 0; i < databases; i++) {
      requireCounted(before, i, tallies.get(i).ofFirst());
      requireCounted(after, i, tallies.get(i).ofSecond());
      all.add(tallies.get(i));
    }
    return all.counts();
  }

  private void submit(int number, OrderedTasks<Join> tasks) throws IOException, ExecutionException {
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
              new Join(
                      number,
                      new JoinedRecords(old, oldIndex, function, range),
                      new JoinedRecords(now, nowIndex, function, range),
                      new Tally(reporter))
                  .run());
    }
  }

  private List<DataFile> open(Lookup database, int number) throws IOException {
    List<DataFile> files = database.dataFiles(number);
    files.forEach(opened::add);
    return files;
  }

  private static BinIndex index(Lookup database, int number) throws IOException {
    return database.withLocators(
        route -> ((PackedLocator) Objects.requireNonNull(route.locator(number))).index());
  }

  private void take(Join join) throws IOException {
    join.tally.report();
    reporter.progress(join.tally.ofFirst() + join.tally.ofSecond());
    tallies.get(join.number).add(join.tally);
  }

  /** A range that did not see records out of order would miss them here. */
  private static void requireCounted(Lookup database, int number, long found) throws IOException {
    long expected = Comparison.facts(database, number).records();
    if (found != expected) {
      throw Comparison.miscounted(
          database.opened().databases().get(number).path(), expected, found);
    }
  }

  /**
   * The records of two databases in one range of signatures.
   *
   * @param number the number of both databases in their sets
   */
  private record Join(int number, JoinedRecords before, JoinedRecords after, Tally tally) {
    /** Compares all records of the range. */
    Join run() throws IOException {
      while (before.isPresent() || after.isPresent()) {
        int order =
            !after.isPresent() ? -1 : !before.isPresent() ? 1 : before.compareSignature(after);
        if (order < 0) {
          tally.removed(before);
          before.next();
        } else if (order > 0) {
          tally.added(after);
          after.next();
        } else if (before.hasSameKey(after)) {
          if (before.hasSameValue(after)) {
            tally.kept();
          } else {
            tally.changed(before, after);
          }
          before.next();
          after.next();
        } else {
          sameSignature();
        }
      }
      return this;
    }

    /** Compares records with the same signature, whose order means nothing. */
    private void sameSignature() throws IOException {
      long high = before.high();
      long low = before.low();
      Map<ByteBuffer, Tally.Copy> old = new LinkedHashMap<>();
      for (; before.hasSignature(high, low); before.next()) {
        old.put(ByteBuffer.wrap(before.key()), new Tally.Copy(before.key(), before.value()));
      }
      for (; after.hasSignature(high, low); after.next()) {
        Tally.Copy was = old.remove(ByteBuffer.wrap(after.key()));
        if (was == null) {
          tally.added(after);
        } else if (was.value().isEqualTo(after.value())) {
          tally.kept();
        } else {
          tally.changed(was, after);
        }
      }
      old.values().forEach(tally::removed);
    }
  }
}
