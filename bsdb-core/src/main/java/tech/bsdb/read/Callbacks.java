package tech.bsdb.read;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that run users' callbacks and nothing else, so that one that blocks holds up no read.
 * Thread-safe.
 */
final class Callbacks {
  /** So many callbacks of one thread run within each other before the next is put off. */
  private static final int DEEPEST = 16;

  private static final long IDLE_SECONDS = 10;

  private final ThreadLocal<int[]> depth = ThreadLocal.withInitial(() -> new int[1]);
  private final ThreadPoolExecutor threads;

  /** With at most that many threads. */
  Callbacks(int most) {
    threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new CallbackThread(work);
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  private static final class CallbackThread extends Thread {
    CallbackThread(Runnable work) {
      super(work, "bsdb-callback");
    }
  }

  /** Whether the calling thread runs callbacks, so that it must not wait for others. */
  boolean isOwnThread() {
    return Thread.currentThread() instanceof CallbackThread;
  }

  /** Runs a callback by one of the threads. */
  void execute(Runnable callback) {
    threads.execute(() -> run(callback));
  }

  /**
   * Runs a callback at once, by the calling thread; or by one of the threads, if it already runs
   * many within each other.
   */
  void runHere(Runnable callback) {
    int[] deep = depth.get();
    if (deep[0] == DEEPEST) {
      execute(callback);
      return;
    }
    deep[0]++;
    try {
      run(callback);
    } finally {
      deep[0]--;
    }
  }

  /** What a callback throws is its thread's to report, and nobody else's concern. */
  private static void run(Runnable callback) {
    try {
      callback.run();
    } catch (RuntimeException | Error e) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  /** Lets callbacks that wait run, and the threads end then; does not wait for them. */
  void close() {
    threads.shutdown();
  }
}
