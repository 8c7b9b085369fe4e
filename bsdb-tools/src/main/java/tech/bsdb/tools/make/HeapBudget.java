package tech.bsdb.tools.make;

import java.lang.management.ManagementFactory;

/**
 * Keeps the heap of a build close to what it holds. The serial collector promotes the arrays of
 * passes that are larger than the survivor spaces, and lets the old generation grow to the limit of
 * the heap before it collects it: a build that holds 200 MB took 6 GB. Thread-safe.
 */
final class HeapBudget {
  private static final long LEAST = 512L << 20;

  private final boolean serial =
      ManagementFactory.getGarbageCollectorMXBeans().stream()
          .anyMatch(collector -> collector.getName().equals("MarkSweepCompact"));
  private long limit = LEAST;

  /** Collects the whole heap if twice as much is in use as after the last time. */
  synchronized void keep() {
    if (serial && used() > limit) {
      System.gc();
      limit = Math.max(LEAST, 2 * used());
    }
  }

  private static long used() {
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
