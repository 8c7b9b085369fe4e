package tech.bsdb.io;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that read, shared by queues. They start when no idle one can take a read, and need no
 * closing: idle ones end. Thread-safe.
 */
final class ReadThreads extends ThreadPoolExecutor {
  /** How long a thread waits for the next read before it ends. */
  private static final long IDLE_MILLIS = 1000;

  private final AtomicInteger busy = new AtomicInteger();

  /**
   * Creates a pool without threads.
   *
   * @param most the maximum number of threads
   */
  ReadThreads(int most, ThreadFactory factory) {
    super(most, most, IDLE_MILLIS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), factory);
    allowCoreThreadTimeOut(true);
  }

  /**
   * Has tasks run, by the running threads alone if no more can be started.
   *
   * @throws OutOfMemoryError if there is not even one thread; the tasks then still wait in the
   *     {@link #getQueue queue}
   */
  void executeAll(List<? extends Runnable> tasks) {
    BlockingQueue<Runnable> waiting = getQueue();
    waiting.addAll(tasks);
    int idle = getPoolSize() - busy.get();
    try {
      for (int missing = waiting.size() - idle; missing > 0 && prestartCoreThread(); ) {
        missing--;
      }
    } catch (OutOfMemoryError e) { // a thread limit
      if (getPoolSize() == 0) {
        throw e;
      }
    }
  }

  @Override
  protected void beforeExecute(Thread thread, Runnable task) {
    busy.getAndIncrement();
  }

  @Override
  protected void afterExecute(Runnable task, Throwable failure) {
    busy.getAndDecrement();
  }
}
