package tech.bsdb.bench.compare;

import java.util.Arrays;

/** Medians. */
final class Numbers {
  private Numbers() {}

  /** Returns the middle value, or the mean of the middle two, or NaN if there are no values. */
  static double median(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    return n == 0 ? Double.NaN : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }
}
