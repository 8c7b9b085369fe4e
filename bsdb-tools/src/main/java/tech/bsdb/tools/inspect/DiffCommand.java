package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tech.bsdb.Database;
import tech.bsdb.DiffListener;
import tech.bsdb.DiffOptions;
import tech.bsdb.DiffReport;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Escapes;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;

/** {@code bsdb diff}: tells by which records two databases differ. */
public final class DiffCommand extends Command {
  /** The exit code if they differ. */
  private static final int DIFFERENT = 1;

  private static final String KEYS = "--keys";
  private static final String VALUES = "--values";
  private static final String LIMIT = "--limit";

  /** For the service loader. */
  public DiffCommand() {
    super("diff", "compare the records of two databases");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    List<String> operands = arguments.operands();
    if (operands.size() != 2 || operands.contains("")) {
      throw new UsageException("diff takes two databases: bsdb diff ./yesterday ./today");
    }
    boolean values = arguments.has(VALUES);
    boolean lines = values || arguments.has(KEYS);
    RecordForm form = RecordForm.of(arguments);
    RowOptions rows = RowOptions.of(arguments);
    String ofRecords = "is for the differing records; add ";
    if (!values) {
      arguments.refuse(
          List.of("--fields", "--json-safe-integers", "-s", "--value-encoding"),
          ofRecords + VALUES);
    }
    if (!lines) {
      arguments.refuse(List.of("--key-encoding", LIMIT), ofRecords + "--keys or --values");
    }
    byte[] separator = ArgumentText.bytes(Escapes.resolve("-s", arguments.text("-s", "\t")));
    long limit = arguments.number(LIMIT, 0, Long.MAX_VALUE, Long.MAX_VALUE);
    DiffOptions options =
        DiffOptions.defaults()
            .withDetail(
                !lines || limit == 0
                    ? DiffOptions.Detail.COUNTS
                    : values ? DiffOptions.Detail.VALUES : DiffOptions.Detail.KEYS);
    long began = System.nanoTime();
    DiffReport report;
    String before;
    String after;
    try (Place former = PlaceOptions.of(arguments, 0);
        Place latter = PlaceOptions.of(arguments, 1);
        Database one = former.open();
        Database two = latter.open();
        Progress progress = new Progress(console, lines || arguments.has("-q"))) {
      Statistics first = one.statistics();
      Statistics second = two.statistics();
      DatabaseOption.requireKeys(first, "compared");
      DatabaseOption.requireKeys(second, "compared");
      DiffLines.Manner manner =
          new DiffLines.Manner(
              form,
              separator,
              values,
              form.json() ? new RecordJson(form, first, values ? rows.form(first) : null) : null,
              form.json() ? new RecordJson(form, second, values ? rows.form(second) : null) : null);
      before = former.named();
      after = latter.named();
      DiffListener listener = new DiffLines(console.out(), progress, manner, limit);
      report = Database.diff(one, two, options, listener);
    } catch (IllegalArgumentException e) { // parts of sets with different shards
      throw new IOException(String.valueOf(e.getMessage()), e);
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    if (!arguments.has("-q")) {
      console.out().flush();
      if (lines) {
        console.report(forPeople(report));
      } else if (form.json()) {
        JsonReport.print(console, forPrograms(before, after, report, seconds));
      } else {
        console.print(forPeople(report));
      }
    }
    return report.isEqual() ? OK : DIFFERENT;
  }

  /** The counts in words. */
  public static String forPeople(DiffReport report) {
    return String.format(
        Locale.ROOT,
        "%,d records kept, %,d added, %,d removed, %,d changed",
        report.kept(),
        report.added(),
        report.removed(),
        report.changed());
  }

  /** The counts by name. */
  public static Map<String, Object> figures(DiffReport report) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("kept", report.kept());
    figures.put("added", report.added());
    figures.put("removed", report.removed());
    figures.put("changed", report.changed());
    return figures;
  }

  private static Map<String, Object> forPrograms(
      String before, String after, DiffReport report, double seconds) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("before", before);
    json.put("after", after);
    json.put("recordsBefore", report.recordsBefore());
    json.put("recordsAfter", report.recordsAfter());
    json.putAll(figures(report));
    json.put("equal", report.isEqual());
    json.put("seconds", seconds);
    return json;
  }
}
