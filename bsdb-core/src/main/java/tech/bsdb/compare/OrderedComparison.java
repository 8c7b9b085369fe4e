package tech.bsdb.compare;

import java.io.IOException;
import java.util.Arrays;
import tech.bsdb.DiffReport;
import tech.bsdb.KeyRange;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.OrderedWalk;

/**
 * Compares two databases whose records are stored in the order of their keys: walks over both in
 * this order, and joins them. Not thread-safe.
 */
final class OrderedComparison {
  /** How many records pass between two reports of progress. */
  private static final int REPORT = 1000;

  private final Lookup before;
  private final Lookup after;
  private final Reporter reporter;
  private final Tally tally;
  private int unreported;

  OrderedComparison(Lookup before, Lookup after, Reporter reporter) {
    this.before = before;
    this.after = after;
    this.reporter = reporter;
    this.tally = new Tally(reporter);
  }

  DiffReport run() throws IOException {
    try (OrderedWalk old = all(before);
        OrderedWalk now = all(after)) {
      boolean oldLeft = old.next();
      boolean nowLeft = now.next();
      while (oldLeft || nowLeft) {
        int order = compare(oldLeft, old, nowLeft, now);
        take(order, old, now);
        progress(order == 0 ? 2 : 1);
        oldLeft = order <= 0 ? old.next() : oldLeft;
        nowLeft = order >= 0 ? now.next() : nowLeft;
      }
    }
    Comparison.requireCounted(before, tally.ofFirst());
    Comparison.requireCounted(after, tally.ofSecond());
    reporter.progress(unreported);
    return tally.counts();
  }

  private static OrderedWalk all(Lookup database) {
    return new OrderedWalk(database, KeyRange.all(), false, true, Long.MAX_VALUE);
  }

  /** Which of the next keys is less; one that is left is less than none. */
  private static int compare(boolean oldLeft, OrderedWalk old, boolean nowLeft, OrderedWalk now) {
    if (oldLeft && nowLeft) {
      return Arrays.compareUnsigned(old.key(), now.key());
    }
    return oldLeft ? -1 : 1;
  }

  private void take(int order, OrderedWalk old, OrderedWalk now) throws IOException {
    if (order > 0) {
      tally.added(now.key(), now.value());
    } else {
      tally.old(old.key(), old.value(), order < 0 ? null : now.value());
    }
  }

  private void progress(int records) throws IOException {
    unreported += records;
    if (unreported >= REPORT) {
      reporter.progress(unreported);
      unreported = 0;
    }
  }
}
