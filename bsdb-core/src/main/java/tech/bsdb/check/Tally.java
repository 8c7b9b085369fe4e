package tech.bsdb.check;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener.Difference;
import tech.bsdb.DiffReport;

/** DiffReport the records of two databases, and reports those that differ. Not thread-safe. */
final class Tally {
  private final Reporter reporter;
  private long kept;
  private long added;
  private long removed;
  private long changed;

  Tally(Reporter reporter) {
    this.reporter = reporter;
  }

  /** Takes a record of the first database, and the value of its key in the second, or null. */
  void old(byte[] key, byte[] value, byte @Nullable [] now) throws IOException {
    if (now == null) {
      removed++;
      report(Difference.REMOVED, key, value, null);
    } else if (Arrays.equals(value, now)) {
      kept++;
    } else {
      changed++;
      report(Difference.CHANGED, key, value, now);
    }
  }

  /** Takes a record of the second database whose key the first one lacks. */
  void added(byte[] key, byte[] value) throws IOException {
    added++;
    report(Difference.ADDED, key, null, value);
  }

  private void report(
      Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after)
      throws IOException {
    boolean values = reporter.wantsValues();
    reporter.report(difference, key, values ? before : null, values ? after : null);
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
