package tech.bsdb.bench.compare;

import java.util.Arrays;

/** Medians. */
final class Numbers {
  private Numbers() {}

  /** The middle value; the mean of the two in the middle where there are two; NaN of none. */
  static double median(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    return n == 0 ? Double.NaN : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }
}
