package tech.bsdb.io;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs tasks on several threads and delivers their results in the order of submission, on the
 * thread that submits. The number of pending results is bounded.
 *
 * <p>The first failure in that order is thrown, regardless of which task fails first in time, and
 * every later call throws it again. Running tasks are never interrupted, since an interrupt would
 * close the files that they read. Not thread-safe.
 */
public final class OrderedTasks<T> implements AutoCloseable {

  /** Receives the results. */
  @FunctionalInterface
  public interface Taker<T> {
    /** Takes the next result. */
    void take(T result) throws IOException;
  }

  private final int limit;
  private final Taker<T> taker;
  private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
  private final ExecutorService workers;
  private final Deque<Future<T>> pending = new ArrayDeque<>();

  /**
   * Creates an instance without tasks.
   *
   * @param threadName the name of every thread; the threads are daemons
   * @param limit how many results may be pending while a task is submitted, at least 1
   */
  public OrderedTasks(String threadName, int threads, int limit, Taker<T> taker) {
    this.limit = limit;
    this.taker = taker;
    this.workers =
        Executors.newFixedThreadPool(
            threads,
            task -> {
              Thread thread = new Thread(task, threadName);
              thread.setDaemon(true);
              this.threads.add(thread);
              return thread;
            });
  }

  /**
   * Submits a task, then delivers the oldest results until fewer than the limit are pending.
   *
   * @throws InterruptedIOException if this thread is interrupted; it stays interrupted
   * @throws ExecutionException if the task whose result is next has failed
   */
  public void submit(Callable<T> task) throws IOException, ExecutionException {
    pending.add(workers.submit(task));
    takeUntilFewerThan(limit);
  }

  /**
   * Delivers all pending results.
   *
   * @throws InterruptedIOException if this thread is interrupted; it stays interrupted
   * @throws ExecutionException if a task has failed
   */
  public void drain() throws IOException, ExecutionException {
    takeUntilFewerThan(1);
  }

  /**
   * The failure of a task, to be thrown by those whose tasks throw no other checked exceptions.
   *
   * @throws RuntimeException if the task has thrown one
   * @throws Error if the task has thrown one
   */
  public static IOException failure(ExecutionException e) {
    Throwable cause = e.getCause();
    if (cause instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof IOException io ? io : new IOException(e);
  }

  private void takeUntilFewerThan(int most) throws IOException, ExecutionException {
    while (pending.size() >= most) {
      T result;
      try {
        result = pending.element().get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw (InterruptedIOException)
            new InterruptedIOException("interrupted while waiting for a task").initCause(e);
      }
      pending.remove();
      taker.take(result);
    }
  }

  /**
   * Cancels the tasks that have not started and waits until all threads have ended, even if this
   * thread is interrupted. Resources that the tasks use may then be freed.
   */
  @Override
  public void close() {
    pending.forEach(task -> task.cancel(false));
    workers.shutdown();
    threads.forEach(Uninterrupted::join);
  }
}
