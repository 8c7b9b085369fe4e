package tech.bsdb.locate;

import java.io.IOException;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;

/**
 * The first steps of up to {@link #MOST} lookups, taken together: all signatures, then all places
 * of first reads. Within a step no key waits for another, so the processor overlaps the cache
 * misses of the hash function. Keys are numbered by their place in {@link Runs}. Not thread-safe.
 */
public final class Starts {
  /** Few enough keys that what one step touches is still cached in the next. */
  public static final int MOST = 128;

  private final Signature signature = new Signature();
  private final boolean[] tooLong = new boolean[MOST];
  private final long[] highs = new long[MOST];
  private final long[] lows = new long[MOST];
  private final long[] places = new long[MOST];

  /**
   * Computes the signature of the key in a place.
   *
   * @param locator the locator of its run
   * @param place 0 to {@link #MOST} - 1
   */
  public void sign(Locator locator, int place, byte[] key) {
    tooLong[place] = key.length > RecordFrame.MAX_KEY;
    locator.sign(key, signature);
    highs[place] = signature.high;
    lows[place] = signature.low;
  }

  /**
   * Finds the places of the first reads of all keys.
   *
   * <p>Loops that touch memory do nothing else: the processor looks ahead by a number of
   * instructions, so the fewer there are between two loads, the more misses overlap (measured: 1.18
   * to 1.25 times the rate of one loop for candidates and their checksum bits).
   */
  public void find(Runs runs) throws IOException {
    long sum = 0;
    for (int run = 0; run < runs.count(); run++) {
      sum += touchStarts(runs.locator(run), runs.start(run), runs.end(run));
    }
    for (int run = 0; run < runs.count(); run++) {
      findCandidates(runs.locator(run), runs.start(run), runs.end(run));
    }
    for (int run = 0; run < runs.count(); run++) {
      sum += touchCandidates(runs.locator(run), runs.start(run), runs.end(run));
    }
    keep(sum);
    for (int run = 0; run < runs.count(); run++) {
      confirm(runs.locator(run), runs.start(run), runs.end(run));
    }
  }

  /** Finds the places of the first reads of keys 0 to {@code count} - 1, which are one run. */
  public void find(Locator locator, int count) throws IOException {
    long sum = touchStarts(locator, 0, count);
    findCandidates(locator, 0, count);
    keep(sum + touchCandidates(locator, 0, count));
    confirm(locator, 0, count);
  }

  private long touchStarts(Locator locator, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += locator.touchStart(highs[i]);
    }
    return sum;
  }

  private void findCandidates(Locator locator, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      places[i] = tooLong[i] ? Locator.ABSENT : locator.candidate(highs[i], lows[i]);
    }
  }

  private long touchCandidates(Locator locator, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      if (places[i] != Locator.ABSENT) {
        sum += locator.touchCandidate(places[i], highs[i]);
      }
    }
    return sum;
  }

  private void confirm(Locator locator, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      if (places[i] != Locator.ABSENT) {
        places[i] = locator.confirm(places[i], highs[i], lows[i]);
      }
    }
  }

  /** Whether the key in a place is certainly absent. */
  public boolean isAbsent(int place) {
    return places[place] == Locator.ABSENT;
  }

  /** The places of the first reads, or {@link Locator#ABSENT}, by the places of the keys. */
  public long[] places() {
    return places;
  }

  /**
   * Prefetches what a read of the keys in places {@code from} to {@code to} - 1 will find, except
   * for absent ones.
   *
   * @param at the places of the reads
   * @return a meaningless number, to be {@link #keep kept}
   */
  public long touch(Locator locator, int read, long[] at, int from, int to) throws IOException {
    long sum = 0;
    for (int i = from; i < to; i++) {
      if (!isAbsent(i)) {
        sum += locator.touch(read, at[i]);
      }
    }
    return sum;
  }

  /** Uses a meaningless number, so that the loads behind it are not optimized away. */
  public static void keep(long sum) {
    if (sum == -1) {
      Thread.onSpinWait();
    }
  }
}
