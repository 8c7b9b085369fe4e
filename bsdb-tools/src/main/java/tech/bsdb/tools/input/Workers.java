package tech.bsdb.tools.input;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What every pipeline does with its threads: the workers are never interrupted, and their
 * exceptions arrive in the thread that takes what they made.
 */
public final class Workers {
  private Workers() {}

  /**
   * Waits on the monitor, which the caller holds, until the condition is met.
   *
   * @throws InterruptedIOException if the thread is interrupted, which it still is afterwards
   */
  public static void await(Object monitor, BooleanSupplier condition)
      throws InterruptedIOException {
    try {
      while (!condition.getAsBoolean()) {
        monitor.wait();
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw (InterruptedIOException)
          new InterruptedIOException("interrupted while reading").initCause(interrupt);
    }
  }

  /** Waits until all have ended, whoever interrupts meanwhile. */
  public static void join(List<Thread> workers) {
    boolean interrupted = false;
    for (Thread worker : workers) {
      while (worker.isAlive()) {
        try {
          worker.join();
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Throws what a worker met as it was where it is unchecked, and gives it back as checked. */
  public static IOException rethrown(Throwable failure) {
    if (failure instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return failure instanceof IOException io ? io : new IOException(failure);
  }
}
