package tech.bsdb.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener.Difference;
import tech.bsdb.DiffReport;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PageCursor;

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

  /**
   * A value. Long ones stay in the files.
   *
   * @param bytes the value, or null if it is long
   * @param place the place of a long value in the files
   */
  record Value(byte @Nullable [] bytes, List<DataFile> files, long place, int length) {
    /** Bytes of long values that are compared at once. */
    private static final int PART = 1 << 14;

    /** A value that is in memory. */
    static Value of(byte[] bytes) {
      return new Value(bytes, List.of(), 0, bytes.length);
    }

    /** Whether the bytes are the same; of long values, it reads parts of both. */
    boolean isEqualTo(Value other) throws IOException {
      if (length != other.length) {
        return false;
      }
      if (bytes != null) {
        return Arrays.equals(bytes, other.bytes);
      }
      PageCursor one = PageCursor.ofValue(files, place, length);
      PageCursor two = PageCursor.ofValue(other.files, other.place, length);
      byte[] partOfOne = new byte[PART];
      byte[] partOfTwo = new byte[PART];
      for (int left = length; left > 0; left -= PART) {
        int part = Math.min(left, PART);
        one.read(partOfOne, 0, part);
        two.read(partOfTwo, 0, part);
        if (!Arrays.equals(partOfOne, 0, part, partOfTwo, 0, part)) {
          return false;
        }
      }
      return true;
    }

    /** Loads the value. */
    byte[] load() throws IOException {
      if (bytes != null) {
        return bytes;
      }
      byte[] all = new byte[length];
      PageCursor.ofValue(files, place, length).read(all, 0, length);
      return all;
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
