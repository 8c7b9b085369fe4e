package tech.bsdb.io;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;

/** Waits that an interrupt does not end; the thread stays interrupted. */
public final class Uninterrupted {
  private Uninterrupted() {}

  /** A wait, such as that of a monitor. */
  @FunctionalInterface
  public interface Wait {
    /** Waits once; how long does not matter. */
    void once() throws InterruptedException;
  }

  /**
   * Waits until a condition is met. If both are those of a monitor, the calling thread must hold
   * it.
   */
  public static void until(BooleanSupplier met, Wait wait) {
    boolean interrupted = false;
    while (!met.getAsBoolean()) {
      try {
        wait.once();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits until a task has ended.
   *
   * @throws IOException if it failed so; other failures are thrown as they are
   */
  public static void get(Future<?> task) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          task.get();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw OrderedTasks.failure(e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Waits until a thread has ended. */
  public static void join(Thread thread) {
    until(() -> !thread.isAlive(), thread::join);
  }
}
