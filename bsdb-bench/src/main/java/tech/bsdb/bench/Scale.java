package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/**
 * One axis of a chart: maps values to places, 0 to 1, and defines the ticks. Immutable.
 *
 * @param place maps a value to its place
 * @param ticks the labelled grid lines, in order
 */
record Scale(DoubleUnaryOperator place, List<Tick> ticks) {
  /**
   * A labelled value.
   *
   * @param at its place, 0 to 1
   */
  record Tick(double at, String label) {}

  /** Formats a tick's value. */
  @FunctionalInterface
  interface Label {
    String of(double value);
  }

  /** Creates a linear axis from 0 to a round number at or above the greatest value. */
  static Scale fromZero(double greatest, Label label) {
    double step = roundStep(Math.max(greatest, 1e-9) / 4);
    double top = Math.ceil(greatest / step - 1e-9) * step;
    double end = top > 0 ? top : step;
    List<Tick> ticks = new ArrayList<>();
    for (double value = 0; value <= end * (1 + 1e-9); value += step) {
      ticks.add(new Tick(value / end, label.of(value)));
    }
    return new Scale(value -> value / end, ticks);
  }

  /** Creates a logarithmic axis around positive values; 1, 2 and 5 are labelled if they fit. */
  static Scale logarithmic(double least, double greatest, Label label) {
    double low = Math.log10(Math.max(least, 1e-9));
    double high = Math.max(Math.log10(Math.max(greatest, 1e-9)), low + 0.3);
    boolean wide = high - low > 2.5;
    double from = below(low, wide);
    double to = -below(-high, wide);
    List<Tick> ticks = new ArrayList<>();
    for (int decade = (int) Math.floor(from); decade <= to + 1e-9; decade++) {
      for (int digit : wide ? new int[] {1} : new int[] {1, 2, 5}) {
        double at = decade + Math.log10(digit);
        if (at > from - 1e-9 && at < to + 1e-9) {
          ticks.add(new Tick((at - from) / (to - from), label.of(digit * Math.pow(10, decade))));
        }
      }
    }
    return new Scale(value -> (Math.log10(Math.max(value, 1e-9)) - from) / (to - from), ticks);
  }

  /** Rounds down to a whole decade, or to the nearest 1, 2 or 5. */
  private static double below(double log, boolean wholeDecade) {
    double decade = Math.floor(log + 1e-9);
    if (wholeDecade) {
      return decade;
    }
    // rounding -x down rounds x up: the steps between decades are then mirrored
    double[] steps =
        log < 0
            ? new double[] {1 - Math.log10(2), 1 - Math.log10(5), 0}
            : new double[] {Math.log10(5), Math.log10(2), 0};
    for (double step : steps) {
      if (decade + step <= log + 1e-9) {
        return decade + step;
      }
    }
    return decade;
  }

  /** Creates an axis with the given values at equal distances, which suits doubling numbers. */
  static Scale steps(List<Integer> values) {
    List<Integer> sorted = values.stream().distinct().sorted().toList();
    int last = sorted.size() - 1;
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i <= last; i++) {
      ticks.add(new Tick(last == 0 ? 0.5 : (double) i / last, String.valueOf(sorted.get(i))));
    }
    return new Scale(value -> last == 0 ? 0.5 : (double) sorted.indexOf((int) value) / last, ticks);
  }

  /**
   * Creates an axis of percentiles, 0 to 100, by their nines: 90, 99 and 99.9 are at equal
   * distances.
   *
   * @param samples the number of values, which determines the last nines on the axis
   */
  static Scale nines(double samples) {
    double end = Math.max(1, Math.min(6, Math.log10(Math.max(10, samples))));
    List<String> names =
        List.of("0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %");
    List<Tick> ticks = new ArrayList<>();
    for (int nines = 0; nines <= end + 1e-9; nines++) {
      ticks.add(new Tick(nines / end, names.get(nines)));
    }
    return new Scale(percentile -> -Math.log10(Math.max(1e-9, 1 - percentile / 100)) / end, ticks);
  }

  private static double roundStep(double rough) {
    double decade = Math.pow(10, Math.floor(Math.log10(rough)));
    for (double digit : new double[] {1, 2, 2.5, 5}) {
      if (digit * decade >= rough * (1 - 1e-9)) {
        return digit * decade;
      }
    }
    return 10 * decade;
  }
}
