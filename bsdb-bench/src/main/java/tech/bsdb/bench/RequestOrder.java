package tech.bsdb.bench;

import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the next key: present keys by cycling through the shuffled set, or zipfian by ranks drawn
 * in advance, with absent keys mixed in at random. A step takes a few nanoseconds. Not thread-safe.
 */
final class RequestOrder {
  private static final int DRAWN = 1 << 22;

  private final int present;
  private final int absent;
  private final int[] ranks;
  private final long absentBelow;
  private final SplittableRandom random;
  private int next;
  private int nextAbsent;

  /**
   * Creates the order of one worker.
   *
   * @param absentShare the share of absent keys, 0 to 1
   * @param ranks the result of {@link #draw}, or null for uniform keys
   * @param worker the worker's number, 0 to {@code workers - 1}; each starts at a different key
   */
  RequestOrder(
      KeySet keys, double absentShare, int @Nullable [] ranks, int worker, int workers, long seed) {
    this.present = keys.present().length;
    this.absent = keys.absent().length;
    this.ranks = ranks == null ? new int[0] : ranks;
    this.absentBelow = absent == 0 ? 0 : Math.round(absentShare * (1L << 32));
    this.random = new SplittableRandom(seed + 0x9E3779B97F4A7C15L * (worker + 1));
    int cycle = this.ranks.length == 0 ? present : this.ranks.length;
    this.next = (int) ((long) cycle * worker / workers);
    this.nextAbsent = (int) ((long) absent * worker / workers);
  }

  /** Draws the ranks shared by all workers of a zipfian run: 4 million, 16 MiB. */
  static int[] draw(int keys, double exponent, long seed) {
    Zipf zipf = new Zipf(keys, exponent);
    SplittableRandom random = new SplittableRandom(seed ^ 0x5A17);
    int[] ranks = new int[DRAWN];
    for (int i = 0; i < ranks.length; i++) {
      ranks[i] = zipf.draw(random);
    }
    return ranks;
  }

  /** Returns the next request's number in the {@link KeySet}. */
  int next() {
    if (absentBelow > 0 && (random.nextLong() >>> 32) < absentBelow) {
      int request = nextAbsent;
      nextAbsent = request + 1 == absent ? 0 : request + 1;
      return ~request;
    }
    int place = next;
    if (ranks.length == 0) {
      next = place + 1 == present ? 0 : place + 1;
      return place;
    }
    next = place + 1 == ranks.length ? 0 : place + 1;
    return ranks[place];
  }
}
