package tech.bsdb.check;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener.Difference;
import tech.bsdb.DiffReport;
import tech.bsdb.check.JoinedRecords.Value;

/** The differences of two packed databases in one range of signatures. Not thread-safe. */
final class JoinedRange {
  /** A differing record, and its values, if they are wanted. */
  private record Found(
      Difference difference, byte[] key, @Nullable Value before, @Nullable Value after) {}

  private final int database;
  private final JoinedRecords before;
  private final JoinedRecords after;
  private final Reporter reporter;
  private final List<Found> found = new ArrayList<>();
  private long kept;
  private long added;
  private long removed;
  private long changed;

  /**
   * Starts a range.
   *
   * @param database the number of both databases in their sets
   */
  JoinedRange(int database, JoinedRecords before, JoinedRecords after, Reporter reporter) {
    this.database = database;
    this.before = before;
    this.after = after;
    this.reporter = reporter;
  }

  /** Compares all records of the range. */
  JoinedRange join() throws IOException {
    while (before.isPresent() || after.isPresent()) {
      int order =
          !after.isPresent() ? -1 : !before.isPresent() ? 1 : before.compareSignature(after);
      if (order < 0) {
        removed++;
        if (reporter.wantsKeys()) {
          found.add(new Found(Difference.REMOVED, before.key(), wanted(before), null));
        }
        before.next();
      } else if (order > 0) {
        added();
      } else if (before.hasSameKey(after)) {
        both();
      } else {
        sameSignature();
      }
    }
    return this;
  }

  /** The current value, if values are wanted. */
  private @Nullable Value wanted(JoinedRecords records) {
    return reporter.wantsValues() ? records.value() : null;
  }

  private void added() throws IOException {
    added++;
    if (reporter.wantsKeys()) {
      found.add(new Found(Difference.ADDED, after.key(), null, wanted(after)));
    }
    after.next();
  }

  private void both() throws IOException {
    if (before.hasSameValue(after)) {
      kept++;
    } else {
      changed++;
      if (reporter.wantsKeys()) {
        found.add(new Found(Difference.CHANGED, before.key(), wanted(before), wanted(after)));
      }
    }
    before.next();
    after.next();
  }

  /** Compares records with the same signature, whose order means nothing. */
  private void sameSignature() throws IOException {
    long high = before.high();
    long low = before.low();
    Map<ByteBuffer, Value> old = new LinkedHashMap<>();
    while (before.hasSignature(high, low)) {
      old.put(ByteBuffer.wrap(before.key()), before.value());
      before.next();
    }
    boolean values = reporter.wantsValues();
    while (after.hasSignature(high, low)) {
      byte[] key = after.key();
      Value was = old.remove(ByteBuffer.wrap(key));
      if (was == null) {
        added();
        continue;
      }
      Value is = after.value();
      if (was.isEqualTo(is)) {
        kept++;
      } else {
        changed++;
        found.add(new Found(Difference.CHANGED, key, values ? was : null, values ? is : null));
      }
      after.next();
    }
    old.forEach(
        (wrapped, value) -> {
          byte[] key = new byte[wrapped.remaining()];
          wrapped.get(key);
          removed++;
          found.add(new Found(Difference.REMOVED, key, values ? value : null, null));
        });
  }

  /** Reports the differences. */
  void report() throws IOException {
    for (Found each : found) {
      if (!reporter.wantsKeys()) {
        break;
      }
      Value old = each.before;
      Value now = each.after;
      reporter.report(
          each.difference,
          each.key,
          old == null ? null : old.load(),
          now == null ? null : now.load());
    }
    reporter.progress(recordsBefore() + recordsAfter());
  }

  /** The number of both databases in their sets. */
  int database() {
    return database;
  }

  /** The records of the first database in the range. */
  long recordsBefore() {
    return before.records();
  }

  /** The records of the second database in the range. */
  long recordsAfter() {
    return after.records();
  }

  /** Those counts and these together. */
  DiffReport plus(DiffReport those) {
    return new DiffReport(
        those.kept() + kept,
        those.added() + added,
        those.removed() + removed,
        those.changed() + changed);
  }
}
