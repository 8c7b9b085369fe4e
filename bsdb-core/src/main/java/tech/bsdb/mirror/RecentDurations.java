package tech.bsdb.mirror;

import java.util.Arrays;

/** How long the last reads took, to tell which one takes unusually long. Thread-safe. */
final class RecentDurations {
  private static final int KEPT = 256;
  private static final int FRESH = 32;
  private static final long LEAST = 5_000_000;

  private final long[] nanos = new long[KEPT];
  private int count;
  private volatile long unusual;

  synchronized void add(long duration) {
    nanos[count++ & KEPT - 1] = duration;
    if (count % FRESH == 0) {
      int known = Math.min(count, KEPT);
      long[] sorted = Arrays.copyOf(nanos, known);
      Arrays.sort(sorted);
      unusual = Math.max(LEAST, sorted[known * 95 / 100]);
      count = count == 2 * KEPT ? KEPT : count; // does not overflow
    }
  }

  /**
   * The nanoseconds that 95 of 100 reads stayed below, 5 ms or more; 0 as long as few are known.
   */
  long unusualNanos() {
    return unusual;
  }
}
