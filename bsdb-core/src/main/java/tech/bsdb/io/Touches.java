package tech.bsdb.io;

/**
 * Loads of cache lines that later steps will need. The processor looks ahead by a number of
 * instructions, so the fewer there are between two loads, the more cache misses overlap: a loop
 * that touches does nothing else.
 */
public final class Touches {
  /** Bytes of a cache line. */
  public static final int LINE = 64;

  private Touches() {}

  /** Uses a meaningless number, so that the loads behind it are not optimized away. */
  public static void keep(long sum) {
    if (sum == -1) {
      Thread.onSpinWait();
    }
  }
}
