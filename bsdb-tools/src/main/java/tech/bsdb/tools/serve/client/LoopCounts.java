package tech.bsdb.tools.serve.client;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Numbered counts that event loops add to and any thread may read. Each loop adds to counts of its
 * own, so that adding needs no locked instruction; a reader sums them. Thread-safe.
 */
public final class LoopCounts {
  private final int size;
  private final List<AtomicLongArray> all = new CopyOnWriteArrayList<>();
  private final FastThreadLocal<AtomicLongArray> own =
      new FastThreadLocal<>() {
        @Override
        protected AtomicLongArray initialValue() {
          AtomicLongArray counts = new AtomicLongArray(size);
          all.add(counts);
          return counts;
        }
      };

  /** Starts with counts of 0, numbered from 0. */
  public LoopCounts(int size) {
    this.size = size;
  }

  /** Adds to a count. The counts of the calling thread remain, so it should live long. */
  public void add(int number, long more) {
    AtomicLongArray counts = own.get();
    counts.lazySet(number, counts.getPlain(number) + more); // nobody else writes it
  }

  /** Returns a count. */
  public long sum(int number) {
    long sum = 0;
    for (AtomicLongArray each : all) {
      sum += each.get(number);
    }
    return sum;
  }

  /** Returns all counts. */
  public long[] sums() {
    long[] sums = new long[size];
    for (AtomicLongArray each : all) {
      for (int number = 0; number < size; number++) {
        sums[number] += each.get(number);
      }
    }
    return sums;
  }
}
