package tech.bsdb.bench;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.bench.LoadOptions.Step;
import tech.bsdb.bench.LoadRun.LiveLine;
import tech.bsdb.bench.ReportFields.HtmlReport;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;

/** Performs a whole run: keys, target, every step, reports. */
final class LoadTool {
  private LoadTool() {}

  /**
   * Runs a tool.
   *
   * @param command the tool's name
   * @return the exit code, which reports an error if a lookup failed
   */
  static int run(String command, LoadOptions options, Console console)
      throws IOException, UsageException, InterruptedException {
    Statistics database = Database.statistics(options.database());
    boolean approximate = database.approximateWidth() > 0;
    if (options.approximate() && !approximate) {
      throw new UsageException(
          "-a: " + options.database() + " is exact; leave -a out, or build it with -a");
    }
    if (options.source() != null && options.source().inputs().contains("-")) {
      console.requireInput();
    }
    if (options.verify() && database.duplicatesDropped() > 0 && !options.quiet()) {
      console.say(
          "bsdb "
              + command
              + ": the database was built without some of its source's duplicates; -v reports them"
              + " as wrong answers");
    }
    KeySet keys = keys(options, database, console);
    try (LoadTarget target = LoadTarget.open(options, approximate)) {
      List<Point> points = measure(options, keys, database, target, console);
      Report report =
          new Report(
              command,
              options,
              database,
              keys,
              target.api(),
              target.engine().get(),
              MachineFacts.read(),
              points);
      write(report, console);
      for (Point point : points) {
        if (point.sum().errors > 0) {
          if (options.quiet() || "-".equals(options.json())) {
            console.say("bsdb " + command + ": " + report.remarks(point).get(0));
          }
          return Command.ERROR;
        }
      }
      return Command.OK;
    }
  }

  private static KeySet keys(LoadOptions options, Statistics statistics, Console console)
      throws IOException, UsageException {
    try (Progress progress = new Progress(console, options.quiet());
        Database database = Database.open(options.database())) {
      KeySet keys =
          KeySource.load(
              database,
              options.source(),
              options.keys(),
              options.verify(),
              options.seed(),
              progress);
      if (options.absentShare() == 0) {
        return keys;
      }
      return keys.withAbsent(
          AbsentKeys.like(keys.present(), statistics.longestKey(), database::get, options.seed()));
    }
  }

  private static List<Point> measure(
      LoadOptions options, KeySet keys, Statistics database, LoadTarget target, Console console)
      throws IOException, InterruptedException {
    Answers answers = new Answers(keys, database.approximateWidth());
    int[] ranks =
        options.zipf() > 0
            ? RequestOrder.draw(keys.present().length, options.zipf(), options.seed())
            : null;
    List<Point> points = new ArrayList<>();
    try (LiveLine live = new LiveLine(console, options.quiet())) {
      for (Step step : options.steps()) {
        LoadRun.Workers workers =
            (worker, stopped) ->
                target
                    .workers()
                    .create(
                        keys,
                        new RequestOrder(
                            keys,
                            options.absentShare(),
                            ranks,
                            worker,
                            step.threads(),
                            options.seed()),
                        step,
                        worker,
                        stopped);
        points.add(
            new LoadRun(
                    step,
                    workers,
                    answers,
                    options.warmupSeconds(),
                    options.durationSeconds(),
                    live)
                .measure());
      }
    }
    return points;
  }

  private static void write(Report report, Console console) throws IOException {
    LoadOptions options = report.options();
    Path html = options.html();
    if (html != null) {
      Files.writeString(html, HtmlReport.of(report), StandardCharsets.UTF_8);
    }
    String json = options.json();
    if ("-".equals(json)) {
      JsonReport.print(console, ReportFields.of(report));
    } else if (json != null) {
      try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(json)))) {
        JsonReport.write(out, ReportFields.of(report));
      }
    }
    if (!options.quiet() && !"-".equals(json)) {
      console.print(TextReport.of(report));
    }
  }
}
