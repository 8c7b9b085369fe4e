package tech.bsdb.tools.cli;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Shows the progress of a long task: stage, rate and time left. On a terminal it redraws one line
 * at most five times a second; elsewhere it prints a plain line every ten seconds. Thread-safe; a
 * call that draws nothing costs one clock read.
 */
public final class Progress implements AutoCloseable {
  private static final long REDRAW_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long LINE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int WIDTH = 79;
  private static final int BAR = 20;

  private final Console console;
  private final boolean quiet;
  private final LongSupplier nanoTime;
  private String stage = "";
  private long stageBegan;
  private long lastShown;
  private boolean closed;

  /** Shows progress on a console, or nothing if {@code quiet}. */
  public Progress(Console console, boolean quiet) {
    this(console, quiet, System::nanoTime);
  }

  Progress(Console console, boolean quiet, LongSupplier nanoTime) {
    this.console = console;
    this.quiet = quiet;
    this.nanoTime = nanoTime;
    this.stageBegan = nanoTime.getAsLong();
    this.lastShown = console.terminal() ? stageBegan - REDRAW_NANOS : stageBegan;
  }

  /**
   * Updates a stage whose time left follows from the amount done.
   *
   * @param total the total amount of work, or -1 if unknown
   */
  public void update(String stage, long done, long total) {
    update(stage, done, total > 0 ? (double) done / total : -1);
  }

  /**
   * Updates the progress of a stage.
   *
   * @param stage what is being done; a new name begins a new stage
   * @param done how many records, pages or other units of the stage are done
   * @param share the share of the stage's work that is done, 0 to 1, or negative if unknown
   */
  public synchronized void update(String stage, long done, double share) {
    if (quiet || closed) {
      return;
    }
    long now = nanoTime.getAsLong();
    if (!stage.equals(this.stage)) {
      this.stage = stage;
      stageBegan = now;
    }
    if (now - lastShown < (console.terminal() ? REDRAW_NANOS : LINE_NANOS)) {
      return;
    }
    lastShown = now;
    String line = describe(stage, done, share, (now - stageBegan) / 1e9);
    if (console.terminal()) {
      console.status(line.length() > WIDTH ? line.substring(0, WIDTH) : line);
    } else {
      console.say(line);
    }
  }

  /** Removes the status line; nothing is shown afterwards. */
  @Override
  public synchronized void close() {
    closed = true;
    if (!quiet) {
      console.status("");
    }
  }

  /** A line such as {@code records [#####-----] 50% 71,000 150,000/s 0:03 left}, in columns. */
  private static String describe(String stage, long done, double share, double seconds) {
    StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-8s", stage));
    double part = Math.min(1, share);
    if (share >= 0) {
      int filled = (int) (BAR * part);
      line.append(" [").append("#".repeat(filled)).append("-".repeat(BAR - filled)).append(']');
      line.append(String.format(Locale.ROOT, " %3d%%", (int) (100 * part)));
    }
    line.append(String.format(Locale.ROOT, " %,14d", done));
    if (seconds >= 0.1) {
      line.append(String.format(Locale.ROOT, " %,12.0f/s", done / seconds));
    }
    if (part > 0.01 && seconds >= 0.5) {
      long left = Math.round(seconds / part * (1 - part));
      line.append(String.format(Locale.ROOT, " %d:%02d left", left / 60, left % 60));
    }
    return line.toString();
  }
}
