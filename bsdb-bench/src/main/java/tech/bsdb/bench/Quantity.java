package tech.bsdb.bench;

import java.util.Locale;

/** Formats figures for people: three significant digits and a unit. */
final class Quantity {
  private Quantity() {}

  /** A time, such as {@code 385 ns}, {@code 12.3 µs}, {@code 4.56 ms}, {@code 1.20 s}. */
  static String time(double nanos) {
    if (nanos < 999.5) {
      return String.format(Locale.ROOT, "%.0f ns", nanos);
    }
    if (nanos < 999.5e3) {
      return digits(nanos / 1e3) + " µs";
    }
    return nanos < 999.5e6 ? digits(nanos / 1e6) + " ms" : digits(nanos / 1e9) + " s";
  }

  /** The same for whole nanoseconds. */
  static String time(long nanos) {
    return time((double) nanos);
  }

  /** A whole number with commas. */
  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** A number with commas, without its fraction. */
  static String count(double number) {
    return String.format(Locale.ROOT, "%,.0f", number);
  }

  /** A number with two decimals, or {@code unknown} for NaN. */
  static String decimal(double number) {
    return Double.isNaN(number) ? "unknown" : String.format(Locale.ROOT, "%,.2f", number);
  }

  /** A number of bytes, or {@code unknown} for NaN. */
  static String bytes(double number) {
    return Double.isNaN(number) ? "unknown" : String.format(Locale.ROOT, "%,.1f", number);
  }

  private static String digits(double number) {
    String form = number < 9.995 ? "%.2f" : number < 99.95 ? "%.1f" : "%.0f";
    return String.format(Locale.ROOT, form, number);
  }
}
