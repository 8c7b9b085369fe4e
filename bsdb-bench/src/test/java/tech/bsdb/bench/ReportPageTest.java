package tech.bsdb.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.bench.Report.Quantity;
import tech.bsdb.bench.ReportFields.HtmlReport;

/** The script of the report's page, in Node where it is installed. */
class ReportPageTest {
  private static final String FIGURES =
      """
      {"command": "bench", "database": {"directory": "</script>", "databaseId": "i"}, "machine": {},
       "engine": "mapped", "interface": "get", "databaseInWords": "d", "loadInWords": "l", "keysInWords": "k",
       "timingInWords": ["t"],
       "points": [{"threads": 1, "depth": 1, "lookupsPerSecond": 5, "timedRequests": 7, "remarks": [],
         "latencyNanos": {"mean": 1, "p50": 385, "p99": 12345, "p99.9": 4.56e6},
         "cpuSecondsPerMillion": null, "deviceBytesPerLookup": 0, "hits": 1, "misses": 2000, "errors": 0}],
       "curves": [[[0, 300], [50, 385], [85.7, 12345]]]}
      """;

  private @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({"1, 1", "90, 110", "300, 700", "300, 90000", "1, 3e12", "999, 1001", "5, 10"})
  void logarithmicAxesHoldTheirValues(double least, double greatest) throws Exception {
    String axis = "logarithmic(" + least + ", " + greatest + ", axisTime)";
    assertThat(
            run(
                "const axis = "
                    + axis
                    + "; const inside = at => at > -1e-6 && at < 1 + 1e-6;"
                    + "print([axis.place("
                    + least
                    + "), axis.place("
                    + greatest
                    + "), ...axis.ticks.map(tick => tick.at)].every(inside),"
                    + " axis.ticks.length >= 2 && axis.ticks.length <= 14)"))
        .isEqualTo("true true");
  }

  @Test
  void linearAxesEndAtARoundNumber() throws Exception {
    assertThat(run("const axis = fromZero(198067, brief); print(labels(axis), axis.place(1e5))"))
        .isEqualTo("0,50K,100K,150K,200K 0.5");
  }

  @Test
  void ninesAreAtEqualDistances() throws Exception {
    assertThat(
            run(
                "const axis = nines(1000); print(labels(axis), axis.place(90).toFixed(6),"
                    + " axis.place(99).toFixed(6))"))
        .isEqualTo("0 %,90 %,99 %,99.9 % 0.333333 0.666667");
  }

  @Test
  void stepsAreAtEqualDistances() throws Exception {
    assertThat(run("const axis = steps([4, 1, 2, 2]); print(labels(axis), axis.place(2))"))
        .isEqualTo("1,2,4 0.5");
  }

  @ParameterizedTest
  @CsvSource({
    "385, 385 ns",
    "999.6, 1.00 µs",
    "12345, 12.3 µs",
    "4.56e6, 4.56 ms",
    "1.2e9, 1.20 s"
  })
  void timesAreShort(double nanos, String expected) throws Exception {
    assertThat(Quantity.time(nanos)).isEqualTo(expected);
    assertThat(run("print(time(" + nanos + "))")).isEqualTo(expected);
  }

  @Test
  void theWholePageIsDrawn() throws Exception {
    assertThat(run("print(main.innerHTML)"))
        .contains("385 ns", "12.3 µs", "4.56 ms", "unknown", "2,000", "Latency distribution")
        .contains("<svg class=\"wide\"", "<svg class=\"narrow\"")
        .doesNotContain("NaN", "undefined", "Infinity");
    assertThat(run("print(document.title)")).isEqualTo("bsdb bench: </script>");
  }

  /** Runs the page's script on small figures, then another one, and returns what that prints. */
  private String run(String script) throws IOException, InterruptedException {
    String page;
    try (InputStream in = HtmlReport.class.getResourceAsStream("report.html")) {
      assertThat(in).isNotNull();
      page = new String(in.readAllBytes(), UTF_8);
    }
    int from = page.indexOf("'use strict'");
    Path file = folder.resolve("page.js");
    Files.writeString(
        file,
        "const main = {}; const document = {getElementById: () => ({textContent: "
            + "require('fs').readFileSync('"
            + Files.writeString(folder.resolve("figures.json"), FIGURES)
            + "', 'utf8')}), querySelector: () => main};\n"
            + "const print = (...values) => console.log(values.join(' '));\n"
            + "const labels = axis => axis.ticks.map(tick => tick.label).join();\n"
            + page.substring(from, page.indexOf("</script>", from))
            + "{ "
            + script
            + " }");
    Process node;
    try {
      node = new ProcessBuilder("node", file.toString()).redirectErrorStream(true).start();
    } catch (IOException notInstalled) {
      assumeTrue(false, "node is not installed");
      throw notInstalled;
    }
    String printed = new String(node.getInputStream().readAllBytes(), UTF_8).strip();
    assertThat(node.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(node.exitValue()).as(printed).isZero();
    return printed;
  }
}
