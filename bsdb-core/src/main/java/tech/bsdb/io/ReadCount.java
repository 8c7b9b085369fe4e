package tech.bsdb.io;

import java.util.concurrent.atomic.LongAdder;

/** Counts reads and their bytes. Thread-safe; concurrent threads do not contend. */
public final class ReadCount {
  private final LongAdder reads = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  /** Counts one read of {@code pages} pages. */
  void add(int pages) {
    reads.increment();
    bytes.add((long) pages * PageSource.PAGE);
  }

  /** The number of reads. */
  public long reads() {
    return reads.sum();
  }

  /** The number of bytes read. */
  public long bytes() {
    return bytes.sum();
  }
}
