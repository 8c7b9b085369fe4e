package tech.bsdb.locate;

import java.io.IOException;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;

/**
 * The first steps of up to {@link #MOST} lookups, taken together: all signatures, then all places
 * of first reads. Within a step no key waits for another, so the processor overlaps the cache
 * misses of the hash function. Not thread-safe.
 */
public final class Starts {
  /** Few enough keys that what one step touches is still cached in the next. */
  public static final int MOST = 128;

  private final Route route;
  private final Locator[] locators = new Locator[MOST];
  private final Signature signature = new Signature();
  private final boolean[] tooLong = new boolean[MOST];
  private final long[] highs = new long[MOST];
  private final long[] lows = new long[MOST];
  private final long[] places = new long[MOST];

  /** Creates an empty set of lookups. */
  public Starts(Route route) {
    this.route = route;
  }

  /**
   * Finds the locator and computes the signature of the key with the given number, 0 to {@link
   * #MOST} - 1.
   *
   * @throws tech.bsdb.error.WrongShardException if the key belongs to a shard that was not opened
   */
  public void sign(int number, byte[] key) throws IOException {
    tooLong[number] = key.length > RecordFrame.MAX_KEY;
    Locator locator = route.of(key);
    locators[number] = locator;
    locator.sign(key, signature);
    highs[number] = signature.high;
    lows[number] = signature.low;
  }

  /**
   * Finds the places of the first reads of keys 0 to {@code count} - 1.
   *
   * <p>Loops that touch memory do nothing else: the processor looks ahead by a number of
   * instructions, so the fewer there are between two loads, the more misses overlap (measured: 1.18
   * to 1.25 times the rate of one loop for candidates and their checksum bits).
   */
  public void find(int count) throws IOException {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += locators[i].touchStart(highs[i]);
    }
    for (int i = 0; i < count; i++) {
      places[i] = tooLong[i] ? Locator.ABSENT : locators[i].candidate(highs[i], lows[i]);
    }
    for (int i = 0; i < count; i++) {
      if (places[i] != Locator.ABSENT) {
        sum += locators[i].touchCandidate(places[i], highs[i]);
      }
    }
    keep(sum);
    for (int i = 0; i < count; i++) {
      if (places[i] != Locator.ABSENT) {
        places[i] = locators[i].confirm(places[i], highs[i], lows[i]);
      }
    }
  }

  /** Whether the key with the given number is certainly absent. */
  public boolean isAbsent(int number) {
    return places[number] == Locator.ABSENT;
  }

  /** The locator of the key with the given number. */
  public Locator locator(int number) {
    return locators[number];
  }

  /** The places of the first reads, or {@link Locator#ABSENT}, by the numbers of the keys. */
  public long[] places() {
    return places;
  }

  /**
   * Prefetches what a read of keys 0 to {@code count} - 1 will find, except for absent ones.
   *
   * @param at the places of the reads
   */
  public void touch(int read, long[] at, int count) throws IOException {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      if (!isAbsent(i)) {
        sum += locators[i].touch(read, at[i]);
      }
    }
    keep(sum);
  }

  /** Uses a meaningless number, so that the loads behind it are not optimized away. */
  public static void keep(long sum) {
    if (sum == -1) {
      Thread.onSpinWait();
    }
  }
}
