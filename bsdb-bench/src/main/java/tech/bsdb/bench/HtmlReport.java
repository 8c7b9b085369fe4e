package tech.bsdb.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The report as a self-contained HTML page without scripts. */
final class HtmlReport {
  private HtmlReport() {}

  /** Returns the page. */
  static String of(Report report) {
    StringBuilder page = new StringBuilder();
    String title = "bsdb " + report.command() + ": " + report.database().directory();
    page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .append("<meta name=\"color-scheme\" content=\"light dark\">\n<title>")
        .append(escaped(title))
        .append("</title>\n<style>\n")
        .append(styles())
        .append("</style>\n</head>\n<body>\n<main>\n");
    page.append("<h1>bsdb ").append(escaped(report.command())).append("</h1>\n<p class=\"what\">");
    page.append(escaped(report.databaseInWords())).append("<br>");
    page.append(escaped(report.loadInWords())).append("</p>\n");
    cards(report, page);
    remarks(report, page);
    if (report.points().size() > 1) {
      chart("Lookups per second", Charts.rates(report), page);
      chart("Latency over " + report.axis(), Charts.latencies(report), page);
    }
    chart("Latency distribution", Charts.latency(report), page);
    table(report, page);
    facts(report, page);
    return page.append("</main>\n</body>\n</html>\n").toString();
  }

  private static void cards(Report report, StringBuilder page) {
    Point best = report.best();
    if (report.points().size() > 1) {
      page.append("<p class=\"of\">The step with the most lookups per second: ")
          .append(escaped(Charts.name(best, report)))
          .append("</p>\n");
    }
    page.append("<section class=\"cards\">\n");
    card("lookups/s", Quantity.count(best.lookupsPerSecond()), page);
    card("p50", Quantity.time(best.nanosAt(50)), page);
    card("p99", Quantity.time(best.nanosAt(99)), page);
    card("p99.9", Quantity.time(best.nanosAt(99.9)), page);
    card("CPU s per million", Quantity.decimal(best.cpuSecondsPerMillion()), page);
    card("bytes read per lookup", Quantity.bytes(best.deviceBytesPerLookup()), page);
    page.append("</section>\n");
  }

  private static void card(String label, String value, StringBuilder page) {
    page.append("<div><b>")
        .append(escaped(value))
        .append("</b><span>")
        .append(escaped(label))
        .append("</span></div>\n");
  }

  private static void remarks(Report report, StringBuilder page) {
    for (Point point : report.points()) {
      for (String remark : Remarks.on(point, report)) {
        String name = Charts.name(point, report);
        page.append("<p class=\"remark\">")
            .append(escaped(name.isEmpty() ? remark : name + ": " + remark))
            .append("</p>\n");
      }
    }
  }

  private static void chart(String title, LineChart chart, StringBuilder page) {
    page.append("<section class=\"chart\">\n<h2>")
        .append(escaped(title))
        .append("</h2>\n")
        .append(chart.html())
        .append("</section>\n");
  }

  private static void table(Report report, StringBuilder page) {
    List<String> head = new ArrayList<>(List.of("threads", "depth", "lookups/s"));
    Report.PERCENTILES.forEach(percentile -> head.add(Report.label(percentile)));
    head.addAll(List.of("CPU s/M", "bytes read", "hits", "misses", "errors"));
    page.append(
        "<section>\n<h2>All figures</h2>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<tr>");
    head.forEach(name -> page.append("<th>").append(escaped(name)).append("</th>"));
    page.append("</tr>\n");
    for (Point point : report.points()) {
      page.append("<tr>");
      cells(point).forEach(cell -> page.append("<td>").append(escaped(cell)).append("</td>"));
      page.append("</tr>\n");
    }
    page.append("</table></div>\n</section>\n");
  }

  private static List<String> cells(Point point) {
    List<String> cells = new ArrayList<>();
    cells.add(String.valueOf(point.step().threads()));
    cells.add(String.valueOf(point.step().depth()));
    cells.add(Quantity.count(point.lookupsPerSecond()));
    Report.PERCENTILES.forEach(p -> cells.add(Quantity.time(point.nanosAt(p))));
    cells.add(Quantity.decimal(point.cpuSecondsPerMillion()));
    cells.add(Quantity.bytes(point.deviceBytesPerLookup()));
    cells.add(Quantity.count(point.hits()));
    cells.add(Quantity.count(point.misses()));
    cells.add(Quantity.count(point.errors()));
    return cells;
  }

  private static void facts(Report report, StringBuilder page) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("engine", report.engine());
    facts.put("interface", report.api());
    facts.put("keys", report.keysInWords());
    facts.put("timing", Report.timingInWords(report.best()));
    facts.put("database id", report.database().databaseId());
    facts.putAll(report.machine());
    page.append("<section>\n<h2>Measured with</h2>\n<dl>\n");
    facts.forEach(
        (name, value) ->
            page.append("<dt>")
                .append(escaped(name))
                .append("</dt><dd>")
                .append(escaped(value))
                .append("</dd>\n"));
    page.append("</dl>\n</section>\n");
  }

  private static String styles() {
    try (InputStream in = HtmlReport.class.getResourceAsStream("report.css")) {
      if (in == null) {
        throw new IllegalStateException("report.css is not on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Escapes text for element content and quoted attributes. */
  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
