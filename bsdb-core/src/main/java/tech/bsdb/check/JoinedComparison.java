package tech.bsdb.check;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import tech.bsdb.DiffReport;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.io.Resources;
import tech.bsdb.io.Window;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.PackedSource;
import tech.bsdb.lookup.SignatureCursor;

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
    PackedSource old = opened.add(PackedSource.open(before, number));
    PackedSource now = opened.add(PackedSource.open(after, number));
    long pages = old.index().pages() + now.index().pages();
    long bins = Math.max(old.index().bins(), now.index().bins());
    long ranges = Math.max(1, Math.min(pages / RANGE_PAGES, bins));
    for (long i = 0; i < ranges; i++) {
      long range = i;
      tasks.submit(
          () ->
              new Join(
                      number,
                      JoinedSide.of(old, ranges, range),
                      JoinedSide.of(now, ranges, range),
                      new Tally(reporter))
                  .run());
    }
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

  /** The records of one of the databases in a range of signatures, at the current one. */
  private record JoinedSide(SignatureCursor cursor, RecordScanner record, List<DataFile> files)
      implements Tally.Side {
    /** The records of one of equal ranges, at the first of them. */
    static JoinedSide of(PackedSource source, long ranges, long range) throws IOException {
      SignatureCursor cursor =
          SignatureCursor.over(source, ranges, range, range + 1, new Window(), true);
      return new JoinedSide(cursor, cursor.record(), source.files());
    }

    private int valueFrom() {
      return record.keyFrom() + record.keyLength();
    }

    /** A copy of the key. */
    @Override
    public byte[] key() {
      return record.key();
    }

    /** The value. */
    @Override
    public Tally.Value value() {
      int length = record.valueLength();
      return record.isLong()
          ? new Tally.Value(null, files, record.place(), length)
          : Tally.Value.of(Arrays.copyOfRange(record.bytes(), valueFrom(), valueFrom() + length));
    }

    boolean hasSameKey(JoinedSide other) {
      return Arrays.equals(
          record.bytes(),
          record.keyFrom(),
          valueFrom(),
          other.record.bytes(),
          other.record.keyFrom(),
          other.valueFrom());
    }

    boolean hasSameValue(JoinedSide other) throws IOException {
      int length = record.valueLength();
      if (length != other.record.valueLength()) {
        return false;
      }
      if (record.isLong()) {
        return value().isEqualTo(other.value());
      }
      return Arrays.equals(
          record.bytes(),
          valueFrom(),
          valueFrom() + length,
          other.record.bytes(),
          other.valueFrom(),
          other.valueFrom() + length);
    }
  }

  /**
   * The records of two databases in one range of signatures.
   *
   * @param number the number of both databases in their sets
   */
  private record Join(int number, JoinedSide before, JoinedSide after, Tally tally) {
    /** Compares all records of the range. */
    Join run() throws IOException {
      SignatureCursor old = before.cursor;
      SignatureCursor now = after.cursor;
      while (old.isThere() || now.isThere()) {
        int order = old.compareSignature(now);
        if (order < 0) {
          tally.removed(before);
          old.next();
        } else if (order > 0) {
          tally.added(after);
          now.next();
        } else if (before.hasSameKey(after)) {
          if (before.hasSameValue(after)) {
            tally.kept();
          } else {
            tally.changed(before, after);
          }
          old.next();
          now.next();
        } else {
          sameSignature(old.high(), old.low());
        }
      }
      return this;
    }

    /** Compares records with the same signature, whose order means nothing. */
    private void sameSignature(long high, long low) throws IOException {
      Map<ByteBuffer, Tally.Copy> old = new LinkedHashMap<>();
      for (; before.cursor.isAt(high, low); before.cursor.next()) {
        old.put(ByteBuffer.wrap(before.key()), new Tally.Copy(before.key(), before.value()));
      }
      for (; after.cursor.isAt(high, low); after.cursor.next()) {
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
