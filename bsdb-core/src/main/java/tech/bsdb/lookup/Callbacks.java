package tech.bsdb.lookup;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Threads that run users' callbacks and nothing else, so that one that blocks holds up no read. A
 * few are enough as long as callbacks end; while all of them are stuck, a further one is made every
 * few milliseconds, up to {@link #MOST}: so callbacks may wait for other lookups. Thread-safe.
 */
final class Callbacks {
  /** The most threads. */
  static final int MOST = 1000;

  /** So many callbacks of one thread run within each other before the next is put off. */
  private static final int DEEPEST = 16;

  private static final long IDLE_SECONDS = 10;

  /** How often it is looked whether callbacks are stuck. */
  private static final long LOOK_MILLIS = 10;

  /** The watch ends when nothing waited so many times in a row; once closed, at the first time. */
  private static final int QUIET_LOOKS = 100;

  private final ThreadLocal<int[]> depth = ThreadLocal.withInitial(() -> new int[1]);
  private final LinkedBlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>();
  private final AtomicInteger running = new AtomicInteger();
  private final LongAdder begun = new LongAdder();
  private final int few;
  private final ThreadPoolExecutor threads;
  private volatile boolean watched;

  /** With that many threads as long as callbacks end. */
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

  /** Whether the calling thread runs callbacks, so that it must not wait for others. */
  boolean isOwnThread() {
    return Thread.currentThread() instanceof CallbackThread;
  }

  /** Whether no callback runs or waits. */
  boolean isIdle() {
    return running.get() == 0 && waiting.isEmpty();
  }

  /**
   * Runs a callback by one of the threads. Where none can be had any more, after closing or at the
   * system's limit, by a new one or by the caller: it is run in any case.
   */
  void execute(Runnable callback) {
    try {
      threads.execute(() -> run(callback));
      if (!watched && !waiting.isEmpty()) {
        watch();
      }
    } catch (RejectedExecutionException closed) {
      runAnyhow(callback);
    } catch (OutOfMemoryError noThread) {
      run(callback);
    }
  }

  private void runAnyhow(Runnable callback) {
    try {
      new CallbackThread(() -> run(callback)).start();
    } catch (OutOfMemoryError noThread) {
      run(callback);
    }
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
      guarded(callback);
    } finally {
      deep[0]--;
    }
  }

  private void run(Runnable callback) {
    begun.increment();
    running.incrementAndGet();
    try {
      guarded(callback);
    } finally {
      running.decrementAndGet();
    }
  }

  /**
   * What a callback throws, checked exceptions that it does not declare included, is its thread's
   * handler's to report, and nobody else's concern; nor is what that handler throws.
   */
  private static void guarded(Runnable callback) {
    try {
      callback.run();
    } catch (Throwable thrown) {
      Thread thread = Thread.currentThread();
      try {
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
      } catch (Throwable ignored) {
        // As the virtual machine does: there is nobody left to tell.
      }
    }
  }

  private synchronized void watch() {
    if (!watched) {
      watched = true;
      Thread watch = new Thread(this::lookAfter, "bsdb-callback-watch");
      watch.setDaemon(true);
      watch.start();
    }
  }

  /** Makes further threads while callbacks wait and none begins. */
  private void lookAfter() {
    long before = -1;
    int quiet = 0;
    while (quiet < (threads.isShutdown() ? 1 : QUIET_LOOKS) || !unwatch()) {
      try {
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        // Nobody has reason to interrupt this thread.
      }
      long now = begun.sum();
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
            // The system's limit: tried again at the next look.
          }
        }
      }
      before = now;
    }
  }

  /** Ends the watch, unless something waits again. */
  private synchronized boolean unwatch() {
    watched = !waiting.isEmpty();
    return !watched;
  }

  /** Lets callbacks that wait run, and the threads end then; does not wait for them. */
  void close() {
    threads.shutdown();
  }
}
