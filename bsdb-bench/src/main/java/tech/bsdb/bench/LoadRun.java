package tech.bsdb.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.bench.LoadOptions.Step;
import tech.bsdb.bench.LoadTarget.Worker;
import tech.bsdb.bench.MachineFacts.ProcessMeter;
import tech.bsdb.tools.cli.Console;

/**
 * One step of a run: all workers warm up, wait for each other, and are measured. The first failure
 * stops all of them.
 */
final class LoadRun {
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
   * Shows the progress of a run: on a terminal as a line redrawn five times a second, elsewhere as
   * a plain line every five seconds. Not thread-safe.
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
