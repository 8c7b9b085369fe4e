package tech.bsdb.io;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Threads that wait for devices: made when there is more to read than threads to read it, up to a
 * limit, and ended when they had nothing to do for a second, or at once when the last of their
 * users has left. Thread-safe; nothing to close.
 */
final class ReadThreads {
  private static final long IDLE_NANOS = 1_000_000_000L;

  private final int most;
  private final long idleNanos;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private int threads;
  private int idle;
  private int made;
  private int users;

  /** At most that many at a time. */
  ReadThreads(int most) {
    this(most, IDLE_NANOS);
  }

  /** At most that many at a time, which end when they had nothing to do for so long. */
  ReadThreads(int most, long idleNanos) {
    this.most = most;
    this.idleNanos = idleNanos;
  }

  /** How many there are. */
  synchronized int count() {
    return threads;
  }

  /** Notes somebody who will have tasks run until he {@link #leave leaves}. */
  synchronized void join() {
    users++;
  }

  /** Notes that one who {@link #join joined}, and whose tasks have all run, will bring no more. */
  synchronized void leave() {
    users--;
    if (users == 0) {
      notifyAll();
    }
  }

  /**
   * Has the first {@code count} tasks run, each by one of the threads. A task must not throw.
   *
   * @throws OutOfMemoryError if there is no thread and none can be made; then no task will run
   */
  synchronized void execute(Runnable[] tasks, int count) {
    for (int i = 0; i < count; i++) {
      waiting.add(tasks[i]);
    }
    int missing = Math.min(most - threads, waiting.size() - idle);
    for (int i = 0; i < missing; i++) {
      try {
        start();
      } catch (OutOfMemoryError e) { // the limit of threads; those that run do the work
        if (threads == 0) {
          waiting.clear();
          throw e;
        }
        break;
      }
    }
    for (int i = Math.min(idle, count); i > 0; i--) {
      notify();
    }
  }

  private void start() {
    Thread thread = new Thread(null, this::work, "bsdb-read-" + made, 0, false);
    thread.setDaemon(true);
    thread.start();
    made++;
    threads++;
  }

  private void work() {
    for (Runnable task = next(); task != null; task = next()) {
      task.run();
    }
  }

  /** Waits for a task; null when the thread is to end. */
  private synchronized @Nullable Runnable next() {
    long since = System.nanoTime();
    while (waiting.isEmpty()) {
      long left = idleNanos - (System.nanoTime() - since);
      if (left <= 0 || users == 0) {
        threads--;
        return null;
      }
      idle++;
      try {
        wait(left / 1_000_000 + 1);
      } catch (InterruptedException e) {
        // Nobody has reason to interrupt these threads, and a read must not suffer from it.
      } finally {
        idle--;
      }
    }
    return waiting.remove();
  }
}
