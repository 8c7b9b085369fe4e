package tech.bsdb.tools.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.cli.TextResource;

class MetricsTest {
  private static final Pattern LINE =
      Pattern.compile("(counter|gauge|summary|info) (bsdb_[a-z_]+)(?:\\{([a-z,]+)})? ([^ ]+) (.+)");
  private static final Pattern ROW =
      Pattern.compile("\\| `(bsdb_[a-z_]+)` \\| ([a-z]+)[^|]* \\| ([^|]*)\\| .*");

  /** Types and labels of the metrics in the table, by name. */
  private static Map<String, String> table() {
    Map<String, String> table = new TreeMap<>();
    table.put("bsdb_http_request_duration_seconds", "histogram");
    TextResource.lines(Metrics.class, "metrics.txt")
        .forEach(
            line -> {
              var parts = LINE.matcher(line);
              assertThat(parts.matches()).as(line).isTrue();
              boolean info = parts.group(1).equals("info");
              String type = info ? "gauge" : parts.group(1);
              String labels = parts.group(3) == null ? "" : " " + parts.group(3);
              String name = parts.group(2) + (info ? "_info" : "");
              assertThat(table.put(name, type + labels)).as(name).isNull();
              assertThat(name.endsWith("_total")).as(name).isEqualTo(type.equals("counter"));
            });
    return table;
  }

  @Test
  void theGuideListsThem() throws IOException {
    Map<String, String> documented = new TreeMap<>();
    for (String line : Files.readAllLines(Path.of("../docs/guides/monitor.md"))) {
      var row = ROW.matcher(line);
      if (row.matches()) {
        String labels = row.group(3).replaceAll(":.*", "").replaceAll("[` ]", "");
        boolean own = !row.group(2).equals("summary") && !labels.isEmpty(); // "quantile" is given
        documented.put(row.group(1), row.group(2) + (own ? " " + labels : ""));
      }
    }
    assertThat(documented).isEqualTo(table());
  }
}
