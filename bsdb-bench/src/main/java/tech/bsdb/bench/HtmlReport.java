package tech.bsdb.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.HistogramIterationValue;
import tech.bsdb.tools.cli.JsonReport;

/** The report as a self-contained HTML page, whose script draws the figures embedded in it. */
final class HtmlReport {
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
    try (InputStream in = HtmlReport.class.getResourceAsStream("report.html")) {
      if (in == null) {
        throw new IllegalStateException("report.html is not on the class path");
      }
      String page = new String(in.readAllBytes(), UTF_8);
      return page.replace("@FIGURES@", json.toString(UTF_8).replace("<", "\\u003c"));
    }
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
