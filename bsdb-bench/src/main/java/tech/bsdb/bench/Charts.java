package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.HistogramIterationValue;

/** The charts of a run. */
final class Charts {
  /** The maximum number of distinguishable lines. */
  private static final int MOST_LINES = 6;

  private Charts() {}

  /** Latency by percentile, one line per step, or for a selection if there are many. */
  static LineChart latency(Report report) {
    List<Point> shown = spread(report.points());
    double least = Double.MAX_VALUE;
    double greatest = 1;
    double samples = 10;
    List<LineChart.Line> lines = new ArrayList<>();
    for (int i = 0; i < shown.size(); i++) {
      Point point = shown.get(i);
      List<LineChart.Dot> dots = distribution(point);
      lines.add(new LineChart.Line(style(i, shown.size()), name(point, report), dots, false));
      for (LineChart.Dot dot : dots) {
        least = Math.min(least, dot.y());
        greatest = Math.max(greatest, dot.y());
      }
      samples = Math.max(samples, (double) point.timed());
    }
    return new LineChart(
        "Latency by percentile",
        "share of lookups that took at most this long",
        Scale.nines(samples),
        Scale.logarithmic(Math.min(least, greatest), greatest, Quantity::axisTime),
        lines);
  }

  private static List<LineChart.Dot> distribution(Point point) {
    List<LineChart.Dot> dots = new ArrayList<>();
    double known = 100 - 100.0 / Math.max(1, point.timed());
    for (HistogramIterationValue value : point.latency().percentiles(4)) {
      double percentile = value.getPercentileLevelIteratedTo();
      if (percentile < known) {
        dots.add(dot(percentile, value.getValueIteratedTo()));
      }
    }
    dots.add(dot(known, point.nanosAt(known)));
    return dots;
  }

  private static LineChart.Dot dot(double percentile, long nanos) {
    double shown = Math.max(1, (double) nanos);
    String hint = Report.label(Math.round(percentile * 1e4) / 1e4) + ": " + Quantity.time(shown);
    return new LineChart.Dot(percentile, shown, hint);
  }

  /** Lookups per second over the varied parameter. */
  static LineChart rates(Report report) {
    double greatest = report.best().lookupsPerSecond();
    return new LineChart(
        "Lookups per second over " + report.axis(),
        report.axis(),
        Scale.steps(report.points().stream().map(report::place).toList()),
        Scale.fromZero(greatest, Quantity::brief),
        List.of(
            line("c0", "", report, Point::lookupsPerSecond, rate -> Quantity.count(rate) + "/s")));
  }

  /** Median and 99th percentile over the varied parameter. */
  static LineChart latencies(Report report) {
    double least = Double.MAX_VALUE;
    double greatest = 1;
    for (Point point : report.points()) {
      least = Math.min(least, Math.max(1, (double) point.nanosAt(50)));
      greatest = Math.max(greatest, (double) point.nanosAt(99));
    }
    return new LineChart(
        "Latency over " + report.axis(),
        report.axis(),
        Scale.steps(report.points().stream().map(report::place).toList()),
        Scale.logarithmic(least, greatest, Quantity::axisTime),
        List.of(
            line("c0", "p50", report, p -> Math.max(1, p.nanosAt(50)), Quantity::time),
            line("c1", "p99", report, p -> Math.max(1, p.nanosAt(99)), Quantity::time)));
  }

  private static LineChart.Line line(
      String style, String name, Report report, ToDoubleFunction<Point> value, Scale.Label label) {
    List<LineChart.Dot> dots = new ArrayList<>();
    report.points().stream()
        .sorted((a, b) -> Integer.compare(report.place(a), report.place(b)))
        .forEach(
            point -> {
              double y = value.applyAsDouble(point);
              String hint = (name.isEmpty() ? "" : name + " ") + label.of(y);
              dots.add(
                  new LineChart.Dot(report.place(point), y, name(point, report) + ": " + hint));
            });
    return new LineChart.Line(style, name, dots, true);
  }

  /** Returns the name of a step within the run. */
  static String name(Point point, Report report) {
    if (report.points().size() == 1) {
      return "";
    }
    Step step = point.step();
    if (report.overDepth()) {
      return "depth " + step.depth();
    }
    String threads = step.threads() == 1 ? "1 thread" : step.threads() + " threads";
    return report.axis().equals("threads") ? threads : threads + " × " + step.depth();
  }

  /** Selects at most six points, including the first and the last. */
  private static List<Point> spread(List<Point> points) {
    if (points.size() <= MOST_LINES) {
      return points;
    }
    List<Point> some = new ArrayList<>();
    for (int i = 0; i < MOST_LINES; i++) {
      some.add(points.get(Math.round(i * (points.size() - 1) / (MOST_LINES - 1f))));
    }
    return some;
  }

  /**
   * Returns a line's colour class, from faint to strong; the faintest appear only with many lines.
   */
  private static String style(int line, int lines) {
    if (lines == 1) {
      return "c0";
    }
    int first = lines == MOST_LINES ? 0 : 1;
    return "r" + (first + Math.round(line * (MOST_LINES - 1f - first) / (lines - 1)));
  }
}
