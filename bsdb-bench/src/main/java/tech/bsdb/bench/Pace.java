package tech.bsdb.bench;

import java.util.concurrent.locks.LockSupport;

/**
 * The timetable of an open loop: request k of a worker is due at a time that does not depend on
 * when the one before was answered. For one thread.
 */
final class Pace {
  /** What the system may oversleep; the rest of the way is waited for with open eyes. */
  private static final long OVERSLEEP_NANOS = 100_000;

  private final long beginNanos;
  private final double intervalNanos;
  private final double shiftNanos;
  private long sent;

  /**
   * Begins a timetable.
   *
   * @param ratePerSecond requests a second of all workers together
   * @param worker this worker's number; the workers take turns
   */
  Pace(long beginNanos, double ratePerSecond, int worker, int workers) {
    this.beginNanos = beginNanos;
    this.intervalNanos = workers * 1e9 / ratePerSecond;
    this.shiftNanos = worker * 1e9 / ratePerSecond;
  }

  /** When the next request is due; asking for it makes the one after it the next. */
  long next() {
    return beginNanos + (long) (shiftNanos + sent++ * intervalNanos);
  }

  /** How many requests are due from the next one on, up to a time. */
  long dueUntil(long nanos) {
    double due = (nanos - beginNanos - shiftNanos) / intervalNanos;
    return Math.max(0, (long) Math.ceil(due) - sent);
  }

  /** Waits for a time. */
  @SuppressWarnings("ThreadPriorityCheck") // lets whoever answers run first; nothing relies on it
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
}
