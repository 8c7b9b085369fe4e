package tech.bsdb.lookup;

import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

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

  private final ThreadLocal<int[]> depth = ThreadLocal.withInitial(() -> new int[1]);
  private final LinkedBlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>();
  private final int few;
  private final ThreadPoolExecutor threads;

  /** Runs the checks, by a thread that ends by itself once there are none. */
  private final ScheduledThreadPoolExecutor watch =
      new ScheduledThreadPoolExecutor(1, work -> daemon(work, "bsdb-callback-watch"));

  /** Whether a check will come. */
  private final AtomicBoolean watched = new AtomicBoolean();

  /** Uses {@code few} threads as long as callbacks return. */
  Callbacks(int few) {
    this.few = few;
    threads =
        new ThreadPoolExecutor(
            few, MOST, IDLE_SECONDS, TimeUnit.SECONDS, waiting, CallbackThread::new);
    threads.allowCoreThreadTimeOut(true);
    watch.setKeepAliveTime(4 * CHECK_MILLIS, TimeUnit.MILLISECONDS);
    watch.allowCoreThreadTimeOut(true);
  }

  /** Creates a thread that does not keep the virtual machine alive. */
  static Thread daemon(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  private static final class CallbackThread extends Thread {
    CallbackThread(Runnable work) {
      super(work, "bsdb-callback");
      setDaemon(true);
    }
  }

  /** Whether a callback would start at once. */
  boolean isIdle() {
    return waiting.isEmpty() && threads.getActiveCount() == 0;
  }

  /** Whether the calling thread runs callbacks and thus must not wait for others. */
  boolean isOwnThread() {
    return Thread.currentThread() instanceof CallbackThread;
  }

  /**
   * Runs a callback on one of the threads. After closing, runs it on a new thread; if no thread can
   * be started, on the calling one. It always runs.
   */
  void execute(Runnable callback) {
    Runnable guarded = () -> run(callback);
    try {
      try {
        threads.execute(guarded);
      } catch (RejectedExecutionException closed) {
        new CallbackThread(guarded).start();
      }
    } catch (OutOfMemoryError noThread) {
      guarded.run();
    }
    if (!waiting.isEmpty() && !watched.get() && !watched.getAndSet(true)) {
      try {
        checkLater(-1);
      } catch (OutOfMemoryError noThread) {
        watched.set(false);
      }
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
      run(callback);
    } finally {
      deep[0]--;
    }
  }

  /**
   * Runs a callback and passes whatever it throws, undeclared checked exceptions included, to the
   * thread's uncaught exception handler only. Ignores what that handler throws.
   */
  private static void run(Runnable callback) {
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

  private void checkLater(long done) {
    Future<?> unused = watch.schedule(() -> check(done), CHECK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Starts another thread if callbacks wait and none has returned since the last check. Reschedules
   * itself until none waits.
   *
   * @param before how many had returned at the last check
   */
  private void check(long before) {
    long done = threads.getCompletedTaskCount();
    if (waiting.isEmpty()) {
      if (threads.getCorePoolSize() > few) {
        threads.setCorePoolSize(few);
      }
      watched.set(false);
      if (waiting.isEmpty() || watched.getAndSet(true)) {
        return;
      }
    } else if (done == before && threads.getPoolSize() < MOST) {
      try {
        threads.setCorePoolSize(threads.getPoolSize() + 1); // starts one
      } catch (OutOfMemoryError noThread) {
        // The system's limit: retried at the next check.
      }
    }
    checkLater(done);
  }

  /** Lets waiting callbacks run and then ends the threads; does not wait for that. */
  void close() {
    threads.shutdown();
  }
}
