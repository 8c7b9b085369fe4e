package tech.bsdb.tools.make;

import static tech.bsdb.tools.cli.FileTotals.count;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildReport;
import tech.bsdb.ChangeCounts;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.FileTotals;
import tech.bsdb.tools.input.InputReport;

/**
 * The report of a build: what became of every input line, what was built, and the resources used.
 *
 * @param unit the unit of input that holds one record, in the plural, such as "lines"
 * @param input what was read
 * @param build what was built
 * @param seconds total wall time
 * @param peakHeapBytes peak heap in use
 */
public record BuildSummary(
    String unit, InputReport input, BuildReport build, double seconds, long peakHeapBytes) {
  /**
   * Peak heap in use since the process began, summed over the pools and therefore an upper bound.
   */
  public static long peakHeap() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getPeakUsage)
        .mapToLong(usage -> usage == null ? 0 : usage.getUsed())
        .sum();
  }

  /** The name of a stage in progress lines and reports. */
  public static String word(Stage stage) {
    return stage.name().toLowerCase(Locale.ROOT);
  }

  private Map<String, Double> stageSeconds() {
    Map<String, Double> seconds = new LinkedHashMap<>();
    build.stageSeconds().forEach((stage, spent) -> seconds.put(word(stage), spent));
    return seconds;
  }

  private double recordsPerSecond() {
    return seconds > 0 ? build.records() / seconds : 0;
  }

  /** The report as lines for people. */
  public String forPeople() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "built %s: %,d records in %.1f s (%,.0f records/s)",
            ArgumentText.shown(build.directory().toString()),
            build.records(),
            seconds,
            recordsPerSecond()));
    InputReport.Files files = input.files();
    if (files != null) {
      line(text, "files read", count(files.read()));
      if (files.directoriesLeftOut() + files.leftOut() > 0) {
        line(
            text,
            "left out by patterns",
            "%s directories, %s files"
                .formatted(count(files.directoriesLeftOut()), count(files.leftOut())));
      }
    }
    line(text, unit + " read", count(input.lines()));
    InputReport.LeftOut leftOut = input.leftOut();
    if (leftOut != null) {
      line(
          text,
          "left out by --where",
          "%s  (not read: %s files, %s parts of others)"
              .formatted(count(leftOut.rows()), count(leftOut.files()), count(leftOut.parts())));
    }
    ChangeCounts changes = build.changes();
    if (input.keysToDelete() > 0) {
      line(text, "keys to delete", count(input.keysToDelete()));
    }
    if (changes != null) {
      line(text, "records kept", count(changes.kept()));
      line(text, "replaced", count(changes.replaced()));
      line(text, "added", count(changes.added()));
      line(text, "deleted", count(changes.deleted()));
      line(text, "deletions of absent keys", count(changes.deletedAbsent()));
      line(text, "superseded", count(changes.superseded()));
    }
    line(text, "records written", count(build.records()));
    line(text, "rejected", count(input.rejected()) + reasons());
    if (changes == null) {
      line(text, "duplicates dropped", count(build.duplicatesDropped()));
    }
    if (build.valuesCut() > 0) {
      line(text, "values cut", count(build.valuesCut()));
    }
    line(text, "bytes read", count(input.bytes()));
    line(text, "bytes written", count(build.databaseBytes()));
    FileTotals.forPeople(build.fileBytes())
        .forEach((file, bytes) -> line(text, "  " + file, bytes));
    StringJoiner stages = new StringJoiner(", ");
    build
        .stageSeconds()
        .forEach(
            (stage, spent) ->
                stages.add(String.format(Locale.ROOT, "%s %.1f", word(stage), spent)));
    line(text, "seconds", stages.toString());
    line(text, "peak heap", count(peakHeapBytes >> 20) + " MB");
    return text.toString();
  }

  private String reasons() {
    if (input.rejectedByReason().isEmpty()) {
      return "";
    }
    StringJoiner reasons = new StringJoiner(", ", "  (", ")");
    input.rejectedByReason().forEach((reason, lines) -> reasons.add(reason + ": " + count(lines)));
    return reasons.toString();
  }

  private static void line(StringBuilder text, String name, String figure) {
    text.append(String.format(Locale.ROOT, "\n  %-27s %s", name, figure));
  }

  /** The report for programs; {@code records} and {@code rejected} are plain numbers. */
  public Map<String, Object> forPrograms() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("directory", build.directory().toString());
    json.put("databaseId", build.databaseId());
    InputReport.Files files = input.files();
    if (files != null) {
      json.put("filesRead", files.read());
      json.put("directoriesLeftOut", files.directoriesLeftOut());
      json.put("filesLeftOut", files.leftOut());
    }
    json.put(unit, input.lines());
    InputReport.LeftOut leftOut = input.leftOut();
    if (leftOut != null) {
      json.put("rowsLeftOut", leftOut.rows());
      json.put("filesRuledOut", leftOut.files());
      json.put("partsRuledOut", leftOut.parts());
    }
    json.put("records", build.records());
    ChangeCounts changes = build.changes();
    if (changes != null) {
      json.put("kept", changes.kept());
      json.put("replaced", changes.replaced());
      json.put("added", changes.added());
      json.put("deleted", changes.deleted());
      json.put("deletedAbsent", changes.deletedAbsent());
      json.put("superseded", changes.superseded());
      json.put("keysToDelete", input.keysToDelete());
    }
    json.put("rejected", input.rejected());
    json.put("rejectedByReason", input.rejectedByReason());
    json.put("duplicatesDropped", build.duplicatesDropped());
    json.put("valuesCut", build.valuesCut());
    json.put("bytesRead", input.bytes());
    json.put("keyBytes", build.keyBytes());
    json.put("valueBytes", build.valueBytes());
    json.put("databaseBytes", build.databaseBytes());
    json.put("fileBytes", build.fileBytes());
    json.put("dictionaryBytes", build.dictionaryBytes());
    json.put("seconds", seconds);
    json.put("stageSeconds", stageSeconds());
    json.put("recordsPerSecond", Math.round(recordsPerSecond()));
    json.put("peakHeapBytes", peakHeapBytes);
    json.put("warnings", build.warnings());
    return json;
  }
}
