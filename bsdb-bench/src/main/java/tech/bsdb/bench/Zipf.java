package tech.bsdb.bench;

import java.util.SplittableRandom;

/**
 * A zipfian distribution over ranks 0 to n - 1. Rank r has a probability proportional to 1 / (r +
 * 1)^s, so a few keys are looked up all the time and most hardly ever. Takes constant memory for
 * any n.
 *
 * <p>Rejection-inversion after W. Hörmann and G. Derflinger, <i>Rejection-inversion to generate
 * variates from monotone discrete distributions</i>, 1996. Immutable.
 */
final class Zipf {
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
