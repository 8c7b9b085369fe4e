package tech.bsdb.tools.make;

import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/**
 * Keeps the heap of a build close to what it holds. The serial collector promotes the arrays of
 * passes that are larger than the survivor spaces, and lets the old generation grow to the limit of
 * the heap before it collects it: a build that holds 200 MB took 6 GB. Thread-safe.
 */
final class HeapBudget {
  static final long LEAST = 512L << 20;

  private final LongSupplier used;
  private final Runnable collector;
  private long limit = LEAST;

  /**
   * Creates an instance.
   *
   * @param used the bytes that are used
   * @param collector collects the whole heap
   */
  HeapBudget(LongSupplier used, Runnable collector) {
    this.used = used;
    this.collector = collector;
  }

  /** Returns the budget of this process, which is kept if its collector is the serial one. */
  static HeapBudget ofProcess() {
    Runtime runtime = Runtime.getRuntime();
    boolean serial =
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .anyMatch(each -> each.getName().equals("MarkSweepCompact"));
    return new HeapBudget(
        serial ? () -> runtime.totalMemory() - runtime.freeMemory() : () -> 0, runtime::gc);
  }

  /** Collects the whole heap if twice as much is in use as after the last time. */
  synchronized void keep() {
    if (used.getAsLong() > limit) {
      collector.run();
      limit = Math.max(LEAST, 2 * used.getAsLong());
    }
  }
}
