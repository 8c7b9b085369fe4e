package tech.bsdb.io;

import java.util.concurrent.CancellationException;

/**
 * Lets the tasks of several threads do something one after the other, in the order of their
 * numbers: what a task has prepared is then used by the processor whose caches hold it. A task that
 * fails before it has passed its turn on must {@link #end} those of the tasks behind it. What fails
 * first in this order is then the only failure, regardless of which task fails first in time. A
 * task that is cancelled before it begins cannot do so, so {@link #close} must end all waits before
 * threads are waited for. Thread-safe.
 */
public final class Turns implements AutoCloseable {
  private long next;

  /** The least number of a task that has failed. */
  private long failed = Long.MAX_VALUE;

  /**
   * Waits until the turns of all tasks with lower numbers, from 0 on, were passed on. An interrupt
   * does not end the wait; the thread stays interrupted.
   *
   * @throws CancellationException if a task with a lower number has failed, or after {@link #close}
   */
  public synchronized void await(long number) {
    Uninterrupted.until(() -> next >= number || failed < number, this::wait);
    if (failed < number) {
      throw new CancellationException("no turn comes any more");
    }
  }

  /** Passes the turn on to the next number. */
  public synchronized void pass() {
    next++;
    notifyAll();
  }

  /** Ends the turns behind a task, which has failed. */
  public synchronized void end(long number) {
    failed = Math.min(failed, number);
    notifyAll();
  }

  /** Ends all turns. */
  @Override
  public void close() {
    end(-1);
  }
}
