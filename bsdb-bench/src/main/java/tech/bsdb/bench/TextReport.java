package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import tech.bsdb.bench.LoadOptions.Step;
import tech.bsdb.bench.Report.Quantity;

/** The report as text for a terminal. */
final class TextReport {
  private TextReport() {}

  /** Returns the whole text. */
  static String of(Report report) {
    List<String> lines = new ArrayList<>();
    lines.add(row("database", report.databaseInWords()));
    lines.add(row("engine", report.engine()));
    lines.add(row("interface", report.api()));
    lines.add(row("keys", report.keysInWords()));
    lines.add(row("load", report.loadInWords()));
    for (Map.Entry<String, String> fact : report.machine().entrySet()) {
      lines.add(row(fact.getKey(), fact.getValue()));
    }
    lines.add("");
    if (report.points().size() == 1) {
      point(report.points().get(0), report, lines);
    } else {
      table(report, lines);
    }
    return String.join("\n", lines);
  }

  private static void point(Point point, Report report, List<String> lines) {
    Step step = point.step();
    lines.add(row("threads", step.threads() + (step.depth() > 1 ? ", depth " + step.depth() : "")));
    lines.add(row("lookups/s", Quantity.count(point.lookupsPerSecond())));
    lines.add(
        row(
            "lookups",
            "%s in %s s: %s hits, %s misses, %s errors"
                .formatted(
                    Quantity.count(point.lookups()),
                    Quantity.decimal(point.seconds()),
                    Quantity.count(point.sum().hits),
                    Quantity.count(point.sum().misses),
                    Quantity.count(point.sum().errors))));
    StringBuilder latency = new StringBuilder();
    for (double percentile : Report.PERCENTILES) {
      latency
          .append(latency.isEmpty() ? "" : "  ")
          .append(Report.label(percentile))
          .append(' ')
          .append(Quantity.time(point.nanosAt(percentile)));
    }
    lines.add(row("latency", latency.toString()));
    lines.add(row("", Report.timingInWords(point)));
    if (report.options().rate() > 0) {
      lines.add(row("sent late", "by at most " + Quantity.time(point.sum().latestNanos)));
    }
    lines.add(row("CPU", Report.cpuInWords(point, report.options())));
    lines.add(
        row("device", Quantity.bytes(point.deviceBytesPerLookup()) + " bytes read per lookup"));
    for (String remark : report.remarks(point)) {
      lines.add("note: " + remark);
    }
  }

  private static void table(Report report, List<String> lines) {
    lines.add(line("threads", "depth", "lookups/s", Report::label, "CPU s/M", "bytes/get"));
    List<String> notes = new ArrayList<>();
    for (Point point : report.points()) {
      Step step = point.step();
      lines.add(
          line(
              step.threads(),
              step.depth(),
              Quantity.count(point.lookupsPerSecond()),
              percentile -> Quantity.time(point.nanosAt(percentile)),
              Quantity.decimal(point.cpuSecondsPerMillion()),
              Quantity.bytes(point.deviceBytesPerLookup())));
      for (String remark : report.remarks(point)) {
        notes.add("note: at " + step.threads() + " x " + step.depth() + ": " + remark);
      }
    }
    Point last = report.points().get(report.points().size() - 1);
    lines.add("(" + Report.timingInWords(last) + ")");
    lines.addAll(notes);
  }

  private static String line(
      Object threads,
      Object depth,
      String rate,
      Function<Double, String> percentiles,
      String cpu,
      String bytes) {
    StringBuilder line =
        new StringBuilder(String.format(Locale.ROOT, "%7s %6s %12s", threads, depth, rate));
    Report.PERCENTILES.forEach(p -> line.append(String.format(" %9s", percentiles.apply(p))));
    return line.append(String.format(Locale.ROOT, " %8s %10s", cpu, bytes)).toString();
  }

  private static String row(String label, String value) {
    return String.format(Locale.ROOT, "%-11s %s", label, value);
  }
}
