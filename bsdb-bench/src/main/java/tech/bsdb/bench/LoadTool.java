package tech.bsdb.bench;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.bench.KeySource.AbsentKeys;
import tech.bsdb.bench.LoadOptions.Step;
import tech.bsdb.bench.LoadTarget.Worker;
import tech.bsdb.bench.LoadTool.LoadRun.LiveLine;
import tech.bsdb.bench.MachineFacts.ProcessMeter;
import tech.bsdb.bench.Report.TextReport;
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

  /**
   * One step of a run: all workers warm up, wait for each other, and are measured. The first
   * failure stops all of them.
   */
  static final class LoadRun {
    /** Creates the workers of a step. */
    @FunctionalInterface
    interface Workers {
      /** Creates one worker, which stops early once {@code stopped} is true. */
      Worker create(int worker, BooleanSupplier stopped);
    }

    private static final long POLL_MILLIS = 100;

    private final Step step;
    private final Workers workers;
    private final Answers answers;
    private final long warmupNanos;
    private final long durationNanos;
    private final LiveLine live;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final CountDownLatch warm;
    private final CountDownLatch go = new CountDownLatch(1);
    private final CountDownLatch over;
    private final List<Tally> warmups = new ArrayList<>();
    private final List<Tally> tallies = new ArrayList<>();
    private volatile boolean stopped;
    private volatile long beginNanos;

    LoadRun(
        Step step,
        Workers workers,
        Answers answers,
        double warmupSeconds,
        double durationSeconds,
        LiveLine live) {
      this.step = step;
      this.workers = workers;
      this.answers = answers;
      this.warmupNanos = (long) (warmupSeconds * 1e9);
      this.durationNanos = (long) (durationSeconds * 1e9);
      this.live = live;
      this.warm = new CountDownLatch(step.threads());
      this.over = new CountDownLatch(step.threads());
    }

    /**
     * Runs the step, once.
     *
     * @throws WrongAnswerException if answers are verified and one is wrong
     * @throws IOException if the load could not continue
     */
    Point measure() throws IOException, InterruptedException {
      try {
        long warmupBegins = System.nanoTime();
        for (int i = 0; i < step.threads(); i++) {
          Worker worker = workers.create(i, () -> stopped);
          Tally warmup = new Tally(answers);
          Tally tally = new Tally(answers);
          warmups.add(warmup);
          tallies.add(tally);
          Thread thread =
              new Thread(() -> work(worker, warmup, tally, warmupBegins), "bsdb-bench-" + i);
          thread.setDaemon(true);
          thread.start();
        }
        watch(warm, "warm-up", warmups, warmupBegins, warmupNanos);
        ProcessMeter before = ProcessMeter.read();
        beginNanos = System.nanoTime();
        go.countDown();
        watch(over, "measure", tallies, beginNanos, durationNanos);
        ProcessMeter after = ProcessMeter.read();
        throwFailure();
        Tally sum = new Tally(answers);
        sum.endNanos = beginNanos;
        tallies.forEach(sum::add);
        return new Point(
            step,
            (sum.endNanos - beginNanos) / 1e9,
            sum,
            after.cpuSecondsSince(before),
            after.deviceBytesSince(before));
      } finally {
        stopped = true;
        go.countDown();
      }
    }

    private void work(Worker worker, Tally warmup, Tally tally, long warmupBegins) {
      try {
        try {
          if (warmupNanos > 0) {
            worker.run(warmupBegins, warmupBegins + warmupNanos, warmup);
          }
        } finally {
          warm.countDown();
        }
        go.await();
        if (!stopped) {
          worker.run(beginNanos, beginNanos + durationNanos, tally);
        }
        tally.endNanos = System.nanoTime();
      } catch (Throwable e) { // rethrown by the thread that waits for the run
        failure.compareAndSet(null, e);
        stopped = true;
      } finally {
        over.countDown();
      }
    }

    private void watch(
        CountDownLatch latch, String phase, List<Tally> tallies, long began, long lengthNanos)
        throws InterruptedException {
      while (!latch.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        long done = tallies.stream().mapToLong(Tally::done).sum();
        live.show(step, phase, done, (System.nanoTime() - began) / 1e9, lengthNanos / 1e9);
      }
    }

    private void throwFailure() throws IOException {
      Throwable thrown = failure.get();
      if (thrown instanceof IOException e) {
        throw e;
      }
      if (thrown instanceof RuntimeException e) {
        throw e;
      }
      if (thrown instanceof Error e) {
        throw e;
      }
      if (thrown != null) {
        throw new IOException(thrown);
      }
    }

    /**
     * Shows the progress of a run: on a terminal as a line redrawn five times a second, elsewhere
     * as a plain line every five seconds. Not thread-safe.
     */
    static final class LiveLine implements AutoCloseable {
      private static final double REDRAW_SECONDS = 0.2;
      private static final double LINE_SECONDS = 5;
      private static final int WIDTH = 79;

      private final Console console;
      private final boolean quiet;
      private String phase = "";
      private double shownAt;
      private long shownDone;

      /** Writes to a console, or nowhere if {@code quiet}. */
      LiveLine(Console console, boolean quiet) {
        this.console = console;
        this.quiet = quiet;
      }

      /**
       * Shows the rate since the last update, if an update is due.
       *
       * @param done lookups since the phase began
       * @param seconds time since the phase began
       * @param length of the phase, in seconds
       */
      void show(Step step, String phase, long done, double seconds, double length) {
        if (quiet) {
          return;
        }
        String what = phase + step;
        if (!what.equals(this.phase)) {
          this.phase = what;
          shownAt = 0;
          shownDone = 0;
        }
        double passed = seconds - shownAt;
        if (passed < (console.terminal() ? REDRAW_SECONDS : LINE_SECONDS)) {
          return;
        }
        String line =
            String.format(
                Locale.ROOT,
                "%-8s %s %6.1f of %.0f s %,14.0f lookups/s",
                phase,
                words(step),
                Math.min(seconds, length),
                length,
                Math.max(0, done - shownDone) / passed);
        shownAt = seconds;
        shownDone = done;
        if (console.terminal()) {
          console.status(line.length() > WIDTH ? line.substring(0, WIDTH) : line);
        } else {
          console.say(line);
        }
      }

      private static String words(Step step) {
        String threads = step.threads() == 1 ? "1 thread" : step.threads() + " threads";
        return step.depth() == 1 ? threads : threads + ", depth " + step.depth();
      }

      /** Removes the line. */
      @Override
      public void close() {
        if (!quiet) {
          console.status("");
        }
      }
    }
  }
}
