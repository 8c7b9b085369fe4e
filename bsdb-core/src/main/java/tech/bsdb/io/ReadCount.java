package tech.bsdb.io;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts reads and their bytes. Thread-safe; threads that count at the same time do not wait for
 * each other.
 */
public final class ReadCount {
  private final LongAdder reads = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  /** Counts one read of so many pages. */
  void add(int pages) {
    reads.increment();
    bytes.add((long) pages * PageSource.PAGE);
  }

  /** How many reads there were. */
  public long reads() {
    return reads.sum();
  }

  /** The bytes that they brought. */
  public long bytes() {
    return bytes.sum();
  }
}
