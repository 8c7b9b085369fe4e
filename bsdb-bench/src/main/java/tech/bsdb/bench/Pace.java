package tech.bsdb.bench;

import java.util.concurrent.locks.LockSupport;

/**
 * The schedule of an open loop: request k of a worker is due at a time that does not depend on when
 * earlier requests were answered. Not thread-safe.
 */
final class Pace {
  /** How long the system may oversleep; the rest of a wait is spent yielding. */
  private static final long OVERSLEEP_NANOS = 100_000;

  private final long beginNanos;
  private final double intervalNanos;
  private final double shiftNanos;
  private long sent;

  /**
   * Starts a schedule.
   *
   * @param ratePerSecond requests per second of all workers together
   * @param worker this worker's number; the workers take turns
   */
  Pace(long beginNanos, double ratePerSecond, int worker, int workers) {
    this.beginNanos = beginNanos;
    this.intervalNanos = workers * 1e9 / ratePerSecond;
    this.shiftNanos = worker * 1e9 / ratePerSecond;
  }

  /** Returns when the next request is due and advances to the one after it. */
  long next() {
    return beginNanos + (long) (shiftNanos + sent++ * intervalNanos);
  }

  /** Returns how many requests, starting with the next, are due before the given time. */
  long dueUntil(long nanos) {
    double due = (nanos - beginNanos - shiftNanos) / intervalNanos;
    return Math.max(0, (long) Math.ceil(due) - sent);
  }

  /** Waits until the given time. */
  @SuppressWarnings("ThreadPriorityCheck") // lets answering threads run first; nothing relies on it
  static void await(long dueNanos) {
    long left;
    while ((left = dueNanos - System.nanoTime()) > 0) {
      if (left > 2 * OVERSLEEP_NANOS) {
        LockSupport.parkNanos(left - OVERSLEEP_NANOS);
      } else {
        Thread.yield();
      }
    }
  }

  /** Reads the time and waits. Tests substitute their own. */
  interface Clock {
    /** The machine's clock. */
    Clock SYSTEM =
        new Clock() {
          @Override
          public long nanos() {
            return System.nanoTime();
          }

          @Override
          public void await(long dueNanos) {
            Pace.await(dueNanos);
          }
        };

    /** The current time, on the scale of {@link System#nanoTime}. */
    long nanos();

    /** Waits until the given time. */
    void await(long dueNanos);
  }
}
