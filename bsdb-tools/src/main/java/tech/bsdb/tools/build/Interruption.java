package tech.bsdb.tools.build;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;

/**
 * Cleans up when the process is told to end (SIGINT, SIGTERM, SIGHUP) while something is half done.
 * The JVM exits with the signal's code by itself; this makes it wait, for a bounded time, until
 * what is half done is undone.
 *
 * <p>Undoing runs in a thread of its own while the interrupted work may still be going on, so what
 * it calls must allow that. The thread that works never gets to tell of the exceptions that this
 * causes: {@link #close} does not return any more then.
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

  /** Undoes half-done work; called from another thread than the one that works. */
  @FunctionalInterface
  public interface Undo {
    /** Stops the work and removes what it left. */
    void run() throws Exception;
  }

  /**
   * Begins to watch for the end of the process, during a build.
   *
   * @param program what the words on stderr begin with
   */
  public Interruption(Console console, String program) {
    this(
        console,
        program,
        "nothing was built",
        "the next build of the same target removes what is left");
  }

  /**
   * Begins to watch for the end of the process.
   *
   * @param program what the words on stderr begin with
   * @param nothingDone what is said when all is undone
   * @param whoRemoves what is said when something could not be removed
   */
  public Interruption(Console console, String program, String nothingDone, String whoRemoves) {
    this.console = console;
    this.program = program;
    this.nothingDone = nothingDone;
    this.whoRemoves = whoRemoves;
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * Says what undoes the work from here on. If the process is ending already, the work goes no
   * further.
   *
   * @param undo stops the work and undoes it, unless it is complete
   * @param lastly removes what the work alone knows how to keep, once it is certain not to complete
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
   * Says that the work is complete: there is nothing to undo from here on.
   *
   * @param what was done, as a clause
   */
  public void completed(String what) {
    completed = what;
  }

  /**
   * Says that the work ended, in whatever way. Where the process is ending, this waits for that.
   */
  @Override
  public void close() {
    ended.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      waitForTheEnd();
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
        // work that was finished tells so at once; a read from a pipe may never end
      }
    } catch (InterruptedException nobodyDoesThat) {
      Thread.currentThread().interrupt();
    }
    String done = completed;
    if (done != null) {
      console.say(program + ": finished before the signal: " + done);
      Runtime.getRuntime().halt(0); // else the JVM would end as if the signal had stopped the work
    }
    Runnable rest = lastly;
    if (rest != null) {
      rest.run();
    }
    if (undoing.isAlive() || failure != null) {
      String why = failure == null ? "it takes too long" : String.valueOf(failure.getMessage());
      console.say(program + ": interrupted, but cleaning up failed (" + why + "), " + whoRemoves);
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

  private static void waitForTheEnd() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
