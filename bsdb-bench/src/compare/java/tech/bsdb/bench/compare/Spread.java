package tech.bsdb.bench.compare;

import java.util.Arrays;

/** The median and the outer deciles of some figures. */
record Spread(double median, double low, double high) {
  static Spread of(double[] figures) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    int count = sorted.length;
    return new Spread(sorted[count / 2], sorted[count / 10], sorted[count - 1 - count / 10]);
  }

  /** The spread of the ratios of rates: how many times as fast as {@code others} each lap was. */
  static Spread ofRates(double[] nanos, double[] others) {
    double[] ratios = new double[nanos.length];
    Arrays.setAll(ratios, round -> others[round] / nanos[round]);
    return of(ratios);
  }
}
