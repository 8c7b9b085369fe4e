package tech.bsdb.bench;

import java.util.List;
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
    return database.directory()
        + ": "
        + Quantity.count(database.records())
        + " records, "
        + kind
        + ", "
        + Quantity.count(database.databaseBytes())
        + " bytes";
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
    return loop
        + ", "
        + seconds(options.warmupSeconds())
        + " warm-up, "
        + seconds(options.durationSeconds())
        + " measured"
        + (options.verify() ? ", every answer verified" : "");
  }

  private static String seconds(double seconds) {
    return String.valueOf(seconds).replaceAll("\\.0$", "") + " s";
  }

  /** Describes in one line how latencies were taken. */
  static String timingInWords(Point point) {
    return point.stride() == 1
        ? "every request timed"
        : "1 request in up to " + point.stride() + " timed, each counted for all it represents";
  }

  /** Describes a point's CPU time in one line. */
  static String cpuInWords(Point point, LoadOptions options) {
    return Quantity.decimal(point.cpuSecondsPerMillion())
        + " s per million lookups, "
        + Quantity.decimal(point.cpuSeconds() / point.seconds())
        + " cores busy"
        + (options.rate() > 0 ? ", including waits for due times" : "");
  }

  /** Returns the point with the most lookups per second. */
  Point best() {
    Point best = points.get(0);
    for (Point point : points) {
      best = point.lookupsPerSecond() > best.lookupsPerSecond() ? point : best;
    }
    return best;
  }

  /** Whether the points vary in depth rather than in threads. */
  boolean overDepth() {
    return points.stream().map(p -> p.step().threads()).distinct().count() == 1
        && points.stream().map(p -> p.step().depth()).distinct().count() > 1;
  }

  /** The name of the varied parameter, for the axis of a chart. */
  String axis() {
    if (overDepth()) {
      return "lookups in flight per thread";
    }
    boolean bothVary = points.stream().map(p -> p.step().depth()).distinct().count() > 1;
    return bothVary ? "lookups in flight, all threads" : "threads";
  }

  /** Returns a point's value on that axis. */
  int place(Point point) {
    if (overDepth()) {
      return point.step().depth();
    }
    return axis().equals("threads") ? point.step().threads() : point.step().inFlight();
  }
}
