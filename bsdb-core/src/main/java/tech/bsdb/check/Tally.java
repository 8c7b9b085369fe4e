package tech.bsdb.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener.Difference;
import tech.bsdb.DiffReport;
import tech.bsdb.check.JoinedRecords.Value;

/**
 * Counts the records of two databases, and keeps those that differ until they are reported. Not
 * thread-safe.
 */
final class Tally {
  /** A record of one of the databases, of which a copy is taken only if it is to be reported. */
  interface Side {
    byte[] key();

    Value value();
  }

  /** A copy of a record. */
  record Copy(byte[] key, Value value) implements Side {
    static Copy of(byte[] key, byte[] value) {
      return new Copy(key, Value.of(value));
    }
  }

  /** A differing record, and its values, if they are wanted. */
  private record Found(
      Difference difference, byte[] key, @Nullable Value before, @Nullable Value after) {}

  private final Reporter reporter;
  private final List<Found> found = new ArrayList<>();
  private long kept;
  private long added;
  private long removed;
  private long changed;

  Tally(Reporter reporter) {
    this.reporter = reporter;
  }

  /** Counts a record that both databases have with the same value. */
  void kept() {
    kept++;
  }

  /** Counts a record whose key only the first database has. */
  void removed(Side before) {
    removed++;
    keep(Difference.REMOVED, before, before, null);
  }

  /** Counts a record whose key only the second database has. */
  void added(Side after) {
    added++;
    keep(Difference.ADDED, after, null, after);
  }

  /** Counts a key that both databases have, with different values. */
  void changed(Side before, Side after) {
    changed++;
    keep(Difference.CHANGED, before, before, after);
  }

  private void keep(
      Difference difference, Side record, @Nullable Side before, @Nullable Side after) {
    if (reporter.wantsKeys()) {
      found.add(new Found(difference, record.key(), wanted(before), wanted(after)));
    }
  }

  private @Nullable Value wanted(@Nullable Side side) {
    return side != null && reporter.wantsValues() ? side.value() : null;
  }

  /** Takes a record of the first database, and the value of its key in the second, or null. */
  void old(byte[] key, byte[] value, byte @Nullable [] now) {
    if (now == null) {
      removed(Copy.of(key, value));
    } else if (Arrays.equals(value, now)) {
      kept();
    } else {
      changed(Copy.of(key, value), Copy.of(key, now));
    }
  }

  /** Reports the records that differ; called by the thread that compares. */
  void report() throws IOException {
    for (Found each : found) {
      if (!reporter.wantsKeys()) {
        break;
      }
      reporter.report(each.difference, each.key, load(each.before), load(each.after));
    }
    found.clear();
  }

  private static byte @Nullable [] load(@Nullable Value value) throws IOException {
    return value == null ? null : value.load();
  }

  /** Adds the counts of another tally. */
  void add(Tally other) {
    kept += other.kept;
    added += other.added;
    removed += other.removed;
    changed += other.changed;
  }

  /** The records of the first database. */
  long ofFirst() {
    return kept + changed + removed;
  }

  /** The keys that both databases have. */
  long inBoth() {
    return kept + changed;
  }

  /** The records of the second database, so far. */
  long ofSecond() {
    return kept + changed + added;
  }

  /** The counts. */
  DiffReport counts() {
    return counts(added);
  }

  /** The counts, with a number of added keys that is known without taking them. */
  DiffReport counts(long knownAdded) {
    return new DiffReport(kept, knownAdded, removed, changed);
  }
}
