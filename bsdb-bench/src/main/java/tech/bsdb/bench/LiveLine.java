package tech.bsdb.bench;

import java.util.Locale;
import tech.bsdb.bench.LoadOptions.Step;
import tech.bsdb.tools.cli.Console;

/**
 * Shows the progress of a run: on a terminal as a line redrawn five times a second, elsewhere as a
 * plain line every five seconds. Not thread-safe.
 */
final class LiveLine implements AutoCloseable {
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
