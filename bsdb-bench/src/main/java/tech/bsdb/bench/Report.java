package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tech.bsdb.Statistics;

/**
 * A run and its measurements. The text, JSON and HTML reports show the same figures.
 *
 * @param command the tool's name
 * @param options the options of the run
 * @param database the database measured
 * @param keys the keys looked up
 * @param api the interface measured
 * @param engine the engine in use, and why
 * @param machine facts by name
 * @param points the measurements, in order
 */
record Report(
    String command,
    LoadOptions options,
    Statistics database,
    KeySet keys,
    String api,
    String engine,
    Map<String, String> machine,
    List<Point> points) {
  private static final double KEPT_UP = 0.99;

  /** The percentiles in every report; 100 is the maximum. */
  static final List<Double> PERCENTILES = List.of(50.0, 90.0, 99.0, 99.9, 99.99, 100.0);

  /** Returns the label of a percentile, such as {@code p99.9} or {@code max}. */
  static String label(double percentile) {
    String number = String.valueOf(percentile);
    return percentile == 100 ? "max" : "p" + number.replaceAll("\\.0$", "");
  }

  /** Describes the database in one line. */
  String databaseInWords() {
    String kind =
        database.approximateWidth() > 0
            ? "approximate, " + database.approximateWidth() + " bytes of each value"
            : "exact, " + database.layout();
    return "%s: %s records, %s, %s bytes"
        .formatted(
            database.directory(),
            Quantity.count(database.records()),
            kind,
            Quantity.count(database.databaseBytes()));
  }

  /** Describes the keys in one line. */
  String keysInWords() {
    long held = keys.present().length;
    String sample =
        keys.sourceRecords() > held ? " of " + Quantity.count(keys.sourceRecords()) : "";
    String absent =
        options.absentShare() > 0
            ? ", "
                + Quantity.decimal(100 * options.absentShare()).replaceAll("\\.?0+$", "")
                + " % absent"
            : "";
    return Quantity.count(held)
        + sample
        + " from "
        + keys.source()
        + (options.zipf() > 0 ? ", zipfian " + options.zipf() : ", uniform")
        + absent
        + ", seed "
        + options.seed();
  }

  /** Describes the load in one line. */
  String loadInWords() {
    String loop =
        options.rate() > 0
            ? "open loop at "
                + Quantity.count(options.rate())
                + " lookups/s, latency from the due time"
            : "closed loop";
    return "%s, %s warm-up, %s measured%s"
        .formatted(
            loop,
            seconds(options.warmupSeconds()),
            seconds(options.durationSeconds()),
            options.verify() ? ", every answer verified" : "");
  }

  private static String seconds(double seconds) {
    return String.valueOf(seconds).replaceAll("\\.0$", "") + " s";
  }

  /** Describes in one line how latencies were taken. */
  static String timingInWords(Point point) {
    return point.sum().largestStride == 1
        ? "every request timed"
        : "1 request in up to "
            + point.sum().largestStride
            + " timed, each counted for all it represents";
  }

  /** Describes a point's CPU time in one line. */
  static String cpuInWords(Point point, LoadOptions options) {
    return "%s s per million lookups, %s cores busy%s"
        .formatted(
            Quantity.decimal(point.cpuSecondsPerMillion()),
            Quantity.decimal(point.cpuSeconds() / point.seconds()),
            options.rate() > 0 ? ", including waits for due times" : "");
  }

  /** Returns remarks on one point, in whole sentences; empty if all is well. */
  List<String> remarks(Point point) {
    List<String> remarks = new ArrayList<>();
    if (point.sum().errors > 0) {
      remarks.add(
          Quantity.count(point.sum().errors) + " lookups failed: " + point.sum().firstError + ".");
    }
    if (point.sum().missing > 0) {
      remarks.add(
          "%s lookups did not find a key that %s has."
              .formatted(Quantity.count(point.sum().missing), keys.source()));
    }
    if (point.sum().mistaken > 0) {
      remarks.add(
          "%s lookups of absent keys got a value%s"
              .formatted(
                  Quantity.count(point.sum().mistaken),
                  database.approximateWidth() > 0
                      ? ", as an approximate database does for a share of them."
                      : "."));
    }
    double rate = options.rate();
    if (rate > 0 && (point.sum().notSent > 0 || point.lookupsPerSecond() < KEPT_UP * rate)) {
      remarks.add(
          "The rate was not sustained: "
              + Quantity.count(point.sum().notSent)
              + " lookups that were due were never sent. The latencies of an overloaded open loop"
              + " only show how long it ran.");
    }
    return remarks;
  }

  /** Formats figures for people: three significant digits and a unit. */
  static final class Quantity {
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
}
