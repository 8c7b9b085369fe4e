package tech.bsdb.bench.compare;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import tech.bsdb.bench.compare.CompareStores.Outcome;

/**
 * A comparison, written as tables and as JSON with every figure.
 *
 * @param about machine, JDK, commit and command, by name
 * @param records number of records in the data set
 * @param outcomes results by store
 */
record ComparisonReport(Map<String, String> about, int records, Map<String, Outcome> outcomes) {
  private static final double MIB = 1 << 20;

  private static double[] all(Map<String, List<Double>> figures, String name) {
    return figures.getOrDefault(name, List.of()).stream()
        .mapToDouble(Double::doubleValue)
        .toArray();
  }

  private static double median(Map<String, List<Double>> figures, String name) {
    return Numbers.median(all(figures, name));
  }

  /** Formats the median, minimum and maximum of a rate, in thousands. */
  private static String rate(Map<String, List<Double>> figures, String name) {
    double[] all = all(figures, name);
    Arrays.sort(all);
    return all.length == 0
        ? "-"
        : String.format(
            "**%,.0f** (%,.0f to %,.0f)",
            Numbers.median(all) / 1e3, all[0] / 1e3, all[all.length - 1] / 1e3);
  }

  /** The tables. */
  String markdown() {
    StringBuilder text = new StringBuilder();
    about.forEach(
        (name, value) -> text.append("- ").append(name).append(": ").append(value).append('\n'));
    text.append(
        "\nMedians; each trial is a separate process. **Build** from the text file, on one calling thread:\n\n");
    text.append(
        "| Store | Build, s | Peak resident memory, MiB | Bytes a record on disk |\n|---|--:|--:|--:|\n");
    outcomes.forEach(
        (name, outcome) -> {
          if (!outcome.build.isEmpty()) {
            text.append(
                String.format(
                    "| %s | %.1f | %,.0f | %.1f |%n",
                    name,
                    median(outcome.build, "build.seconds"),
                    median(outcome.build, "peak.rss.bytes") / MIB,
                    median(outcome.build, "disk.bytes") / records));
          }
        });
    text.append(
        """

        **Read**, page cache warm: thousands of lookups per second of the reading threads' own CPU time, so that other
        work on the machine does not count (the JSON also has wall-clock rates): median (minimum to maximum). *Heap* is what
        an open reader retains after answering; *outside* is how much the process grew outside the heap.

        | Store | Open, ms | Heap, MiB | Outside, MiB | Present keys, 1 thread | Absent keys, 1 thread | Present keys, 2 threads |
        |---|--:|--:|--:|--:|--:|--:|
        """);
    outcomes.forEach(
        (name, outcome) ->
            outcome.readings.forEach(
                (reading, figures) -> {
                  if (figures.containsKey("present.rate")) {
                    text.append(
                        String.format(
                            "| %s | %.2f | %.1f | %.1f | %s | %s | %s |%n",
                            reading.isEmpty() ? name : name + ", " + reading,
                            median(figures, "open.ms"),
                            median(figures, "heap.bytes") / MIB,
                            median(figures, "anonymous.bytes") / MIB,
                            rate(figures, "present.cpu.rate"),
                            rate(figures, "absent.cpu.rate"),
                            rate(figures, "present.2.cpu.rate")));
                  }
                }));
    outcomes.forEach(
        (name, outcome) -> {
          if (outcome.leftOut != null) {
            text.append("\nLeft out: ")
                .append(name)
                .append(": ")
                .append(outcome.leftOut)
                .append('\n');
          }
        });
    return text.toString();
  }

  /** Writes all results. */
  void writeJson(Path file) throws IOException {
    try (JsonGenerator json = new JsonFactory().createGenerator(file.toFile(), JsonEncoding.UTF8)) {
      json.setPrettyPrinter(new DefaultPrettyPrinter());
      json.writeStartObject();
      for (Map.Entry<String, String> entry : about.entrySet()) {
        json.writeStringField(entry.getKey(), entry.getValue());
      }
      json.writeArrayFieldStart("stores");
      for (Map.Entry<String, Outcome> entry : outcomes.entrySet()) {
        json.writeStartObject();
        json.writeStringField("store", entry.getKey());
        if (entry.getValue().leftOut != null) {
          json.writeStringField("left out", entry.getValue().leftOut);
        }
        write(json, "build", entry.getValue().build);
        for (Map.Entry<String, Map<String, List<Double>>> reading :
            entry.getValue().readings.entrySet()) {
          write(
              json,
              reading.getKey().isEmpty() ? "read" : "read " + reading.getKey(),
              reading.getValue());
        }
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
    }
  }

  private static void write(JsonGenerator json, String name, Map<String, List<Double>> figures)
      throws IOException {
    json.writeObjectFieldStart(name);
    for (Map.Entry<String, List<Double>> entry : figures.entrySet()) {
      json.writeArrayFieldStart(entry.getKey());
      for (double value : entry.getValue()) {
        json.writeNumber(value);
      }
      json.writeEndArray();
    }
    json.writeEndObject();
  }
}
