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

  /**
   * A zipfian distribution over ranks 0 to n - 1. Rank r has a probability proportional to 1 / (r +
   * 1)^s, so a few keys are looked up all the time and most hardly ever. Takes constant memory for
   * any n.
   *
   * <p>Rejection-inversion after W. Hörmann and G. Derflinger, <i>Rejection-inversion to generate
   * variates from monotone discrete distributions</i>, 1996. Immutable.
   */
  static final class Zipf {
    private final int ranks;
    private final double exponent;
    private final double integralOfFirst;
    private final double integralOfLast;
    private final double shortcut;

    /**
     * Creates a distribution.
     *
     * @param ranks the number of ranks, at least 1
     * @param exponent greater than 0; request logs typically show values near 1
     */
    Zipf(int ranks, double exponent) {
      if (ranks < 1 || !(exponent > 0)) {
        throw new IllegalArgumentException(ranks + " ranks with exponent " + exponent);
      }
      this.ranks = ranks;
      this.exponent = exponent;
      this.integralOfFirst = integral(1.5) - 1;
      this.integralOfLast = integral(ranks + 0.5);
      this.shortcut = 2 - inverse(integral(2.5) - density(2));
    }

    /** Draws a rank. */
    int draw(SplittableRandom random) {
      while (true) {
        double u = integralOfLast + random.nextDouble() * (integralOfFirst - integralOfLast);
        double x = inverse(u);
        int rank = (int) Math.min(ranks, Math.max(1, (long) (x + 0.5)));
        if (rank - x <= shortcut || u >= integral(rank + 0.5) - density(rank)) {
          return rank - 1;
        }
      }
    }

    private double density(double x) {
      return Math.exp(-exponent * Math.log(x));
    }

    /** The integral of the density from 1 to x. */
    private double integral(double x) {
      double log = Math.log(x);
      return expm1Over((1 - exponent) * log) * log;
    }

    private double inverse(double y) {
      double t = Math.max(-1, y * (1 - exponent));
      return Math.exp(log1pOver(t) * y);
    }

    /** (e^x - 1) / x, also accurate near 0, where the exponent is near 1. */
    private static double expm1Over(double x) {
      return Math.abs(x) > 1e-8 ? Math.expm1(x) / x : 1 + x / 2 * (1 + x / 3);
    }

    /** log(1 + x) / x, also accurate near 0. */
    private static double log1pOver(double x) {
      return Math.abs(x) > 1e-8 ? Math.log1p(x) / x : 1 - x * (0.5 - x / 3);
    }
  }
}
