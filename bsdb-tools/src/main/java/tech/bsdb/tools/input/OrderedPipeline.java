package tech.bsdb.tools.input;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the results of worker threads to one thread, in a fixed order.
 *
 * <p>Results belong to lanes, numbered from 0. A lane has any number of results, added by one
 * worker, and then ends, with or without a failure. The taker gets the results of lane 0, then
 * those of lane 1, and so on. A failure is thrown once all results before it have been taken, so
 * the first failure in this order wins, regardless of which happens first in time.
 *
 * <p>The owner decides which worker fills which lane and bounds memory: its workers {@link #await}
 * room. Its own state and the pipeline's are guarded by one monitor, so that a condition can depend
 * on both.
 *
 * <p>Workers are never interrupted. When the run ends, each worker finishes its current result and
 * ends.
 */
public final class OrderedPipeline<T> {

  /** The work of a worker thread. */
  @FunctionalInterface
  public interface Work {
    /** Works until nothing is left to do. May throw a failure that belongs to no lane. */
    void run() throws IOException;
  }

  /** Takes the results in order. */
  @FunctionalInterface
  public interface Taker<T> {
    /** Takes the next result. */
    void take(long lane, T result) throws IOException;
  }

  private static final class Lane<T> {
    private final Deque<T> ready = new ArrayDeque<>();
    private boolean ended;
    private @Nullable Throwable failure;
  }

  private final Object monitor;
  private final String threadNames;
  private final int threads;

  // All below is guarded by the monitor.
  private final Map<Long, Lane<T>> lanes = new HashMap<>();
  private final List<Thread> workers = new ArrayList<>();
  private long head;
  private long laneCount = Long.MAX_VALUE;
  private @Nullable Thread leftBehind;
  private boolean stopped;
  private @Nullable Throwable workerFailure;

  /**
   * A pipeline that has not started.
   *
   * @param monitor guards the pipeline and the owner's state
   * @param threadNames name prefix of the threads, which are daemons
   */
  public OrderedPipeline(Object monitor, String threadNames, int threads) {
    this.monitor = monitor;
    this.threadNames = threadNames;
    this.threads = threads;
  }

  /**
   * Starts the workers and takes all results; may be called once. On return, normal or not, all
   * workers have ended, except the one that is {@linkplain #leaveBehind left behind}.
   *
   * @throws InputException if the run is stopped before the last lane ends
   * @throws InterruptedIOException if this thread is interrupted; it stays interrupted
   * @throws IOException if the first failed lane, the taker or a worker throws one; unchecked
   *     exceptions and errors are passed on likewise
   */
  public void run(Work work, Taker<T> taker) throws IOException {
    try {
      start(work);
      for (T result = next(); result != null; result = next()) {
        taker.take(head, result);
      }
    } finally {
      stop();
      join();
    }
    synchronized (monitor) {
      throwIfAny(workerFailure);
    }
  }

  /** Makes the run end with an exception; may be called from any thread. */
  public void stop() {
    synchronized (monitor) {
      stopped = true;
      monitor.notifyAll();
    }
  }

  /** Whether the run was stopped or has ended. The caller holds the monitor. */
  public boolean isStopped() {
    return stopped;
  }

  /**
   * Waits in a worker until the condition is met. The caller holds the monitor, and notifies it of
   * changes to its own state.
   *
   * @return false if the run was stopped or has ended, regardless of the condition
   */
  public boolean await(BooleanSupplier condition) throws InterruptedIOException {
    waitUntil(() -> stopped || condition.getAsBoolean());
    return !stopped;
  }

  /** Whether the taker needs a result of this lane to continue. The caller holds the monitor. */
  public boolean isAwaited(long lane) {
    return lane == head && lane(lane).ready.isEmpty();
  }

  /** Adds a result to a lane that has not ended. */
  public void add(long lane, T result) {
    synchronized (monitor) {
      lane(lane).ready.add(result);
      monitor.notifyAll();
    }
  }

  /**
   * Ends a lane. Has no effect on a stopped run, since results may then be missing.
   *
   * @param failure thrown in {@link #run} after the results of the lane, or null
   */
  public void end(long lane, @Nullable Throwable failure) {
    synchronized (monitor) {
      if (!stopped) {
        Lane<T> ended = lane(lane);
        ended.ended = true;
        ended.failure = failure;
        monitor.notifyAll();
      }
    }
  }

  /** Sets the number of lanes, which may become known during the run. */
  public void setLanes(long count) {
    synchronized (monitor) {
      laneCount = count;
      monitor.notifyAll();
    }
  }

  /**
   * Sets the worker that the run does not wait for when it ends, since it may block forever; null
   * for none.
   */
  public void leaveBehind(@Nullable Thread worker) {
    synchronized (monitor) {
      leftBehind = worker;
    }
  }

  private Lane<T> lane(long number) {
    return lanes.computeIfAbsent(number, added -> new Lane<>());
  }

  private void start(Work work) {
    for (int i = 1; i <= threads; i++) {
      Thread worker = new Thread(() -> runWorker(work), threadNames + i);
      worker.setDaemon(true);
      synchronized (monitor) {
        worker.start();
        workers.add(worker);
      }
    }
  }

  private void runWorker(Work work) {
    try {
      work.run();
    } catch (Throwable failure) {
      synchronized (monitor) {
        if (workerFailure == null) {
          workerFailure = failure;
        }
        monitor.notifyAll();
      }
    }
  }

  /** The next result in order, or null after the last. Lane {@link #head} is its lane. */
  private @Nullable T next() throws IOException {
    synchronized (monitor) {
      while (true) {
        Lane<T> lane = lane(head);
        waitUntil(
            () ->
                !lane.ready.isEmpty()
                    || lane.ended
                    || head == laneCount
                    || workerFailure != null
                    || stopped);
        if (head == laneCount) {
          return null;
        }
        boolean complete = lane.ended && lane.ready.isEmpty();
        if (stopped && !complete) {
          throw new InputException("stopped before the end of the input");
        }
        T result = lane.ready.poll();
        if (result != null) {
          return result;
        }
        throwIfAny(lane.failure);
        throwIfAny(workerFailure);
        lanes.remove(head);
        head++;
        monitor.notifyAll();
      }
    }
  }

  private void waitUntil(BooleanSupplier condition) throws InterruptedIOException {
    try {
      while (!condition.getAsBoolean()) {
        monitor.wait();
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw (InterruptedIOException)
          new InterruptedIOException("interrupted while reading").initCause(interrupt);
    }
  }

  /** Throws a worker's failure: a checked one as an {@link IOException}, others unchanged. */
  private static void throwIfAny(@Nullable Throwable failure) throws IOException {
    if (failure instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure != null) {
      throw failure instanceof IOException io ? io : new IOException(failure);
    }
  }

  private void join() {
    boolean interrupted = false;
    for (Thread worker : workersToAwait()) {
      while (worker.isAlive()) {
        try {
          worker.join();
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private List<Thread> workersToAwait() {
    synchronized (monitor) {
      List<Thread> awaited = new ArrayList<>(workers);
      awaited.remove(leftBehind);
      return awaited;
    }
  }
}
