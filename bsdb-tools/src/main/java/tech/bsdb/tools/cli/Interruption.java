package tech.bsdb.tools.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Cleans up unfinished work when a signal ends the process (SIGINT, SIGTERM, SIGHUP). The JVM exits
 * with the signal's code by itself; this class makes it wait, for a bounded time, until the
 * unfinished work is undone.
 *
 * <p>Undoing runs in its own thread while the interrupted work may still be running, so whatever it
 * calls must tolerate that. The working thread never reports the resulting exceptions, because
 * {@link #close} no longer returns.
 */
public final class Interruption implements AutoCloseable {
  private static final long UNDO_SECONDS = 20;
  private static final long END_SECONDS = 1;

  private final Console console;
  private final String program;
  private final String nothingDone;
  private final String whoRemoves;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread hook = new Thread(this::interrupted, "interruption");
  private @Nullable Undo undo;
  private volatile @Nullable Runnable lastly;
  private boolean began;
  private volatile @Nullable String completed;
  private volatile @Nullable Exception failure;

  /** Undoes unfinished work; called from a thread other than the working one. */
  @FunctionalInterface
  public interface Undo {
    /** Stops the work and removes what it left. */
    void run() throws Exception;
  }

  /**
   * Starts watching for a signal during a build.
   *
   * @param program the prefix of messages on stderr
   */
  public Interruption(Console console, String program) {
    this(
        console,
        program,
        "nothing was built",
        "the next build of the same target removes what is left");
  }

  /**
   * Starts watching for a signal.
   *
   * @param program the prefix of messages on stderr
   * @param nothingDone the message when everything is undone
   * @param whoRemoves the message when something could not be removed
   */
  public Interruption(Console console, String program, String nothingDone, String whoRemoves) {
    this.console = console;
    this.program = program;
    this.nothingDone = nothingDone;
    this.whoRemoves = whoRemoves;
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * Registers what undoes the work from here on. If the process is already ending, the work stops
   * here.
   *
   * @param undo stops the work and undoes it, unless it is complete
   * @param lastly removes what only completed work keeps, once the work is certain not to complete
   */
  public void undoBy(Undo undo, Runnable lastly) {
    synchronized (this) {
      this.undo = undo;
      this.lastly = lastly;
      if (!began) {
        return;
      }
    }
    undo();
    close();
  }

  /**
   * Marks the work as complete: nothing is left to undo.
   *
   * @param what the result, as a clause
   */
  public void completed(String what) {
    completed = what;
  }

  /** Marks the work as ended, successfully or not. If the process is ending, waits for its end. */
  @Override
  public void close() {
    ended.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      awaitExit();
    }
  }

  private void interrupted() {
    synchronized (this) {
      began = true;
    }
    Thread undoing = new Thread(this::undo, "undo");
    undoing.setDaemon(true);
    undoing.start();
    long left = TimeUnit.SECONDS.toMillis(END_SECONDS) / 20;
    try {
      undoing.join(TimeUnit.SECONDS.toMillis(UNDO_SECONDS));
      while (completed == null && !ended.await(20, TimeUnit.MILLISECONDS) && left-- > 0) {
        // finished work reports at once; a read from a pipe may never end
      }
    } catch (InterruptedException unexpected) {
      Thread.currentThread().interrupt();
    }
    String done = completed;
    if (done != null) {
      console.say(program + ": finished before the signal: " + done);
      Runtime.getRuntime().halt(0); // else the exit code would be the signal's
    }
    Runnable rest = lastly;
    if (rest != null) {
      rest.run();
    }
    if (undoing.isAlive() || failure != null) {
      String why = failure == null ? "it took too long" : String.valueOf(failure.getMessage());
      console.say(program + ": interrupted, but cleaning up failed (" + why + "); " + whoRemoves);
    } else {
      console.say(program + ": interrupted, " + nothingDone);
    }
  }

  private void undo() {
    Undo known;
    synchronized (this) {
      known = undo;
    }
    try {
      if (known != null) {
        known.run();
      }
    } catch (Exception e) {
      failure = e;
    }
  }

  private static void awaitExit() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
