package tech.bsdb.io;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A pool of threads for blocking reads. It starts threads, up to a limit, when there are more tasks
 * than idle threads. A thread ends after a second without work, or at once when the last user has
 * left. Thread-safe; needs no closing.
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

  /** A pool of at most {@code most} threads. */
  ReadThreads(int most) {
    this(most, IDLE_NANOS);
  }

  /** A pool of at most {@code most} threads, which end after {@code idleNanos} without work. */
  ReadThreads(int most, long idleNanos) {
    this.most = most;
    this.idleNanos = idleNanos;
  }

  /** The number of threads. */
  synchronized int count() {
    return threads;
  }

  /** Registers a user, who may run tasks until {@link #leave}. */
  synchronized void join() {
    users++;
  }

  /** Unregisters a user that {@link #join joined} and whose tasks have all run. */
  synchronized void leave() {
    users--;
    if (users == 0) {
      notifyAll();
    }
  }

  /**
   * Runs the first {@code count} tasks on the pool's threads. A task must not throw.
   *
   * @throws OutOfMemoryError if there is no thread and none can be started; then no task runs
   */
  synchronized void execute(Runnable[] tasks, int count) {
    for (int i = 0; i < count; i++) {
      waiting.add(tasks[i]);
    }
    int missing = Math.min(most - threads, waiting.size() - idle);
    for (int i = 0; i < missing; i++) {
      try {
        start();
      } catch (OutOfMemoryError e) { // a thread limit: the running threads do the work
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

  /** Waits for a task; returns null when the thread must end. */
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
        // Nothing should interrupt these threads, and an interrupt must not affect a read.
      } finally {
        idle--;
      }
    }
    return waiting.remove();
  }
}
