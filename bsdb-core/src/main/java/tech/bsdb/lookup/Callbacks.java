package tech.bsdb.lookup;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Threads that run only users' callbacks, so that a blocking callback delays no read. A few threads
 * suffice as long as callbacks return. While all are stuck, another thread is started every few
 * milliseconds, up to {@link #MOST}, so that callbacks may wait for other lookups. Thread-safe.
 */
final class Callbacks {
  /** The maximum number of threads. */
  static final int MOST = 1000;

  /** How many callbacks may nest on one thread before the next is handed to another. */
  private static final int MAX_NESTING = 16;

  private static final long IDLE_SECONDS = 10;

  /** The interval of checks for stuck callbacks. */
  private static final long CHECK_MILLIS = 10;

  /** The watch ends after this many checks in a row find none waiting; once closed, after one. */
  private static final int QUIET_CHECKS = 100;

  private final ThreadLocal<int[]> depth = ThreadLocal.withInitial(() -> new int[1]);
  private final LinkedBlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>();
  private final AtomicInteger running = new AtomicInteger();
  private final LongAdder started = new LongAdder();
  private final int few;
  private final ThreadPoolExecutor threads;
  private volatile boolean watched;

  /** Uses {@code few} threads as long as callbacks return. */
  Callbacks(int few) {
    this.few = few;
    threads =
        new ThreadPoolExecutor(
            few, MOST, IDLE_SECONDS, TimeUnit.SECONDS, waiting, CallbackThread::new);
    threads.allowCoreThreadTimeOut(true);
  }

  private static final class CallbackThread extends Thread {
    CallbackThread(Runnable work) {
      super(work, "bsdb-callback");
      setDaemon(true);
    }
  }

  /** Whether the calling thread runs callbacks and thus must not wait for others. */
  boolean isOwnThread() {
    return Thread.currentThread() instanceof CallbackThread;
  }

  /** Whether no callback is running or waiting. */
  boolean isIdle() {
    return running.get() == 0 && waiting.isEmpty();
  }

  /**
   * Runs a callback on one of the threads. After closing, runs it on a new thread; if no thread can
   * be started, on the calling one. It always runs.
   */
  void execute(Runnable callback) {
    try {
      threads.execute(() -> run(callback));
      if (!watched && !waiting.isEmpty()) {
        watch();
      }
    } catch (RejectedExecutionException closed) {
      runOnNewThread(callback);
    } catch (OutOfMemoryError noThread) {
      run(callback);
    }
  }

  private void runOnNewThread(Runnable callback) {
    try {
      new CallbackThread(() -> run(callback)).start();
    } catch (OutOfMemoryError noThread) {
      run(callback);
    }
  }

  /**
   * Runs a callback at once on the calling thread, or on one of the pool's threads if the calling
   * thread already nests many.
   */
  void runHere(Runnable callback) {
    int[] deep = depth.get();
    if (deep[0] == MAX_NESTING) {
      execute(callback);
      return;
    }
    deep[0]++;
    try {
      guarded(callback);
    } finally {
      deep[0]--;
    }
  }

  private void run(Runnable callback) {
    started.increment();
    running.incrementAndGet();
    try {
      guarded(callback);
    } finally {
      running.decrementAndGet();
    }
  }

  /**
   * Runs a callback and passes whatever it throws, undeclared checked exceptions included, to the
   * thread's uncaught exception handler only. Ignores what that handler throws.
   */
  private static void guarded(Runnable callback) {
    try {
      callback.run();
    } catch (Throwable thrown) {
      Thread thread = Thread.currentThread();
      try {
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
      } catch (Throwable ignored) {
        // Ignored, as by the virtual machine.
      }
    }
  }

  private synchronized void watch() {
    if (!watched) {
      watched = true;
      Thread watch = new Thread(this::watchCallbacks, "bsdb-callback-watch");
      watch.setDaemon(true);
      watch.start();
    }
  }

  /** Starts more threads while callbacks wait and none starts. */
  private void watchCallbacks() {
    long before = -1;
    int quiet = 0;
    while (quiet < (threads.isShutdown() ? 1 : QUIET_CHECKS) || !unwatch()) {
      try {
        TimeUnit.MILLISECONDS.sleep(CHECK_MILLIS);
      } catch (InterruptedException e) {
        // Nothing should interrupt this thread.
      }
      long now = started.sum();
      if (waiting.isEmpty()) {
        quiet++;
        if (threads.getCorePoolSize() > few) {
          threads.setCorePoolSize(few);
        }
      } else {
        quiet = 0;
        if (now == before && threads.getCorePoolSize() < MOST) {
          try {
            threads.setCorePoolSize(threads.getCorePoolSize() + 1); // starts one
          } catch (OutOfMemoryError noThread) {
            // The system's limit: retried at the next check.
          }
        }
      }
      before = now;
    }
  }

  /** Ends the watch unless callbacks are waiting again. */
  private synchronized boolean unwatch() {
    watched = !waiting.isEmpty();
    return !watched;
  }

  /** Lets waiting callbacks run and then ends the threads; does not wait for that. */
  void close() {
    threads.shutdown();
  }
}
