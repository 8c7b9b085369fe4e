package tech.bsdb.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.HistogramIterationValue;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.TextResource;

/** The fields of the JSON report. Names include units; unknown values are null. */
final class ReportFields {
  private ReportFields() {}

  /** Returns all fields. */
  static Map<String, Object> of(Report report) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("command", report.command());
    fields.put("database", database(report));
    fields.put("engine", report.engine());
    fields.put("interface", report.api());
    fields.put("load", load(report));
    fields.put("machine", report.machine());
    List<Map<String, @Nullable Object>> points = new ArrayList<>();
    report.points().forEach(point -> points.add(point(point, report)));
    fields.put("points", points);
    return fields;
  }

  private static Map<String, Object> database(Report report) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("directory", report.database().directory().toString());
    fields.put("databaseId", report.database().databaseId());
    fields.put("layout", report.database().layout());
    fields.put("approximateWidth", report.database().approximateWidth());
    fields.put("records", report.database().records());
    fields.put("databaseBytes", report.database().databaseBytes());
    return fields;
  }

  private static Map<String, Object> load(Report report) {
    LoadOptions options = report.options();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("loop", options.rate() > 0 ? "open" : "closed");
    fields.put("ratePerSecond", options.rate());
    fields.put("batch", options.batch());
    fields.put("keys", report.keys().present().length);
    fields.put("keySource", report.keys().source());
    fields.put("sourceRecords", report.keys().sourceRecords());
    fields.put("absentShare", options.absentShare());
    fields.put("zipf", options.zipf());
    fields.put("seed", options.seed());
    fields.put("verified", options.verify());
    fields.put("warmupSeconds", options.warmupSeconds());
    fields.put("durationSeconds", options.durationSeconds());
    return fields;
  }

  private static Map<String, @Nullable Object> point(Point point, Report report) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("threads", point.step().threads());
    fields.put("depth", point.step().depth());
    fields.put("seconds", point.seconds());
    fields.put("lookups", point.lookups());
    fields.put("lookupsPerSecond", point.lookupsPerSecond());
    fields.put("hits", point.sum().hits);
    fields.put("misses", point.sum().misses);
    fields.put("missesOfSourceKeys", point.sum().missing);
    fields.put("hitsOfAbsentKeys", point.sum().mistaken);
    fields.put("errors", point.sum().errors);
    fields.put("firstError", point.sum().firstError);
    fields.put("latencyNanos", latency(point));
    fields.put("timedRequests", point.sum().timed);
    fields.put("timedOneIn", point.sum().largestStride);
    fields.put("notSent", point.sum().notSent);
    fields.put("sentLateNanos", point.sum().latestNanos);
    fields.put("cpuSeconds", known(point.cpuSeconds()));
    fields.put("cpuSecondsPerMillion", known(point.cpuSecondsPerMillion()));
    fields.put("deviceBytes", known(point.deviceBytes()));
    fields.put("deviceBytesPerLookup", known(point.deviceBytesPerLookup()));
    fields.put("remarks", report.remarks(point));
    fields.put("distribution", distribution(point));
    return fields;
  }

  private static Map<String, Object> latency(Point point) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("mean", point.sum().latency.getMean());
    for (double percentile : Report.PERCENTILES) {
      fields.put(Report.label(percentile), point.nanosAt(percentile));
    }
    return fields;
  }

  /** Returns (percentile, nanoseconds) pairs, closer together towards the maximum. */
  private static List<List<Object>> distribution(Point point) {
    List<List<Object>> pairs = new ArrayList<>();
    for (HistogramIterationValue value : point.sum().latency.percentiles(2)) {
      pairs.add(List.of(value.getPercentileLevelIteratedTo(), value.getValueIteratedTo()));
    }
    return pairs;
  }

  private static @Nullable Double known(double number) {
    return Double.isNaN(number) ? null : number;
  }

  /** The report as a self-contained HTML page, whose script draws the figures embedded in it. */
  static final class HtmlReport {
    private HtmlReport() {}

    /** Returns the page: the fields of the JSON report, and what only people read. */
    static String of(Report report) throws IOException {
      Map<String, Object> figures = ReportFields.of(report);
      figures.put("databaseInWords", report.databaseInWords());
      figures.put("loadInWords", report.loadInWords());
      figures.put("keysInWords", report.keysInWords());
      figures.put("timingInWords", report.points().stream().map(Report::timingInWords).toList());
      figures.put("curves", report.points().stream().map(HtmlReport::curve).toList());
      ByteArrayOutputStream json = new ByteArrayOutputStream();
      JsonReport.write(json, figures);
      return TextResource.text(HtmlReport.class, "report.html")
          .replace("@FIGURES@", json.toString(UTF_8).replace("<", "\\u003c"));
    }

    /** Returns (percentile, nanoseconds) pairs, up to the last percentile that was measured. */
    private static List<List<Object>> curve(Point point) {
      List<List<Object>> pairs = new ArrayList<>();
      double known = 100 - 100.0 / Math.max(1, point.sum().timed);
      for (HistogramIterationValue value : point.sum().latency.percentiles(4)) {
        double percentile = value.getPercentileLevelIteratedTo();
        if (percentile < known) {
          pairs.add(List.of(percentile, value.getValueIteratedTo()));
        }
      }
      pairs.add(List.of(known, point.nanosAt(known)));
      return pairs;
    }
  }
}
