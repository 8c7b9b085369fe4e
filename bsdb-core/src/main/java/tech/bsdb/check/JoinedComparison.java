package tech.bsdb.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import tech.bsdb.DiffReport;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.RecordView;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.io.Resources;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.PackedSource;
import tech.bsdb.lookup.SignatureCursor;
import tech.bsdb.lookup.SignatureJoin;

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
        OrderedTasks<Range> tasks =
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

  private void submit(int number, OrderedTasks<Range> tasks)
      throws IOException, ExecutionException {
    PackedSource old = opened.add(PackedSource.open(before, number));
    PackedSource now = opened.add(PackedSource.open(after, number));
    long pages = old.index().pages() + now.index().pages();
    long bins = Math.max(old.index().bins(), now.index().bins());
    long ranges = Math.max(1, Math.min(pages / RANGE_PAGES, bins));
    for (long i = 0; i < ranges; i++) {
      long range = i;
      tasks.submit(
          () -> {
            Tally tally = new Tally(reporter);
            Range found = new Range(number, old.files(), now.files(), tally);
            new SignatureJoin(now, old).run(ranges, range, range + 1, true, found);
            return found;
          });
    }
  }

  private void take(Range range) throws IOException {
    range.tally.report();
    reporter.progress(range.tally.ofFirst() + range.tally.ofSecond());
    tallies.get(range.number).add(range.tally);
  }

  /** A range that did not see records out of order would miss them here. */
  private static void requireCounted(Lookup database, int number, long found) throws IOException {
    long expected = Comparison.facts(database, number).records();
    if (found != expected) {
      throw Comparison.miscounted(
          database, database.opened().databases().get(number).path(), expected, found);
    }
  }

  /** A record to count as different. */
  private record JoinedSide(RecordView record, List<DataFile> files) implements Tally.Side {
    @Override
    public byte[] key() {
      return record.key();
    }

    @Override
    public Tally.Value value() {
      int length = record.valueLength();
      return record.isLong()
          ? new Tally.Value(null, files, record.place(), length)
          : Tally.Value.of(
              Arrays.copyOfRange(record.bytes(), record.valueFrom(), record.valueFrom() + length));
    }
  }

  /**
   * Counts and keeps what differs in one range of signatures. The database after is the first one
   * of the join, whose order is that of the reports.
   *
   * @param number the number of both databases in their sets
   */
  private record Range(int number, List<DataFile> old, List<DataFile> now, Tally tally)
      implements SignatureJoin.Receiver {
    @Override
    public void onlyFirst(SignatureCursor first) {
      tally.added(new JoinedSide(first.record(), now));
    }

    @Override
    public void both(RecordView first, RecordView second, long high, long low) throws IOException {
      if (hasSameValue(second, first)) {
        tally.kept();
      } else {
        tally.changed(new JoinedSide(second, old), new JoinedSide(first, now));
      }
    }

    private boolean hasSameValue(RecordView before, RecordView after) throws IOException {
      int length = before.valueLength();
      if (length != after.valueLength()) {
        return false;
      }
      if (before.isLong()) {
        return new JoinedSide(before, old).value().isEqualTo(new JoinedSide(after, now).value());
      }
      return Arrays.equals(
          before.bytes(),
          before.valueFrom(),
          before.valueFrom() + length,
          after.bytes(),
          after.valueFrom(),
          after.valueFrom() + length);
    }

    @Override
    public void onlySecond(RecordView second, long high, long low) {
      tally.removed(new JoinedSide(second, old));
    }
  }
}
