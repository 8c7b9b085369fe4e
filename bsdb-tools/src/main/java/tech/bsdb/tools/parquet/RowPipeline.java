package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.Batch;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.Workers;
import tech.bsdb.tools.parquet.ParquetFile.RowGroup;

/**
 * Reads row groups in several threads and has their rows taken in the order of the input in one.
 *
 * <p>A worker takes the next row group, reads it, and adds its rows to what is ready of it, batch
 * after batch; the thread in {@link #run} takes the batches of the first row group that is not
 * done, then those of the next. Memory is bounded: beyond a share of the heap everybody waits, but
 * for the first row group that is not done when nothing is ready of it, so that nobody waits for
 * ever.
 *
 * <p>Workers are never interrupted. When the run ends, they end after the batch at hand.
 */
final class RowPipeline {

  /** Takes batches in the order of the input. */
  @FunctionalInterface
  interface Taker {
    /** Takes a batch, which is the pipeline's again afterwards. */
    void take(Task task, RowBatch batch) throws IOException;
  }

  /** One row group on its way. */
  static final class Task {
    final int number;
    final ParquetFile file;
    final int fileNumber;
    final RowGroup rowGroup;
    private final Deque<RowBatch> ready = new ArrayDeque<>();
    private boolean ended;
    private @Nullable Throwable failure;

    Task(int number, ParquetFile file, int fileNumber, RowGroup rowGroup) {
      this.number = number;
      this.file = file;
      this.fileNumber = fileNumber;
      this.rowGroup = rowGroup;
    }
  }

  private final List<Task> tasks;
  private final Supplier<RowReader> readers;
  private final Supplier<Batch> batches;
  private final int threads;
  private final long mostHeld;

  // All below is guarded by this.
  private final Deque<RowBatch> empty = new ArrayDeque<>();
  private final List<Thread> workers = new ArrayList<>();
  private int taken;
  private int head;
  private long held;
  private boolean stopped;
  private @Nullable Throwable workerFailure;

  /**
   * A pipeline.
   *
   * @param mostHeld bytes of row groups and of rows in memory after which the next waits
   */
  RowPipeline(
      List<Task> tasks,
      Supplier<RowReader> readers,
      Supplier<Batch> batches,
      int threads,
      long mostHeld) {
    this.tasks = tasks;
    this.readers = readers;
    this.batches = batches;
    this.threads = Math.min(threads, tasks.size());
    this.mostHeld = mostHeld;
  }

  /**
   * Reads everything; to be called once.
   *
   * @throws IOException if reading fails, or the taker does; all workers have ended then
   */
  void run(Taker taker) throws IOException {
    try {
      start();
      for (Task task : tasks) {
        for (RowBatch batch = await(task); batch != null; batch = await(task)) {
          taker.take(task, batch);
          giveBack(batch);
        }
        next();
      }
    } finally {
      stop();
      Workers.join(started());
    }
  }

  /** Makes the run end with an exception, from any thread. */
  synchronized void stop() {
    stopped = true;
    notifyAll();
  }

  private void start() {
    for (int i = 1; i <= threads; i++) {
      Thread worker = new Thread(this::work, "bsdb-parquet-" + i);
      worker.setDaemon(true);
      synchronized (this) {
        worker.start();
        workers.add(worker);
      }
    }
  }

  private void work() {
    try (RowReader reader = readers.get()) {
      for (Task task = take(); task != null; task = take()) {
        read(task, reader);
      }
    } catch (Throwable failure) {
      synchronized (this) {
        workerFailure = failure;
        notifyAll();
      }
    }
  }

  private synchronized @Nullable Task take() {
    return stopped || taken == tasks.size() ? null : tasks.get(taken++);
  }

  private void read(Task task, RowReader reader) {
    Throwable failure = null;
    long bytes = task.rowGroup.bytes();
    boolean admitted = false;
    try {
      admitted = hold(task, bytes);
      if (admitted) {
        reader.read(task.file, task.rowGroup, new Ready(task));
      }
    } catch (Throwable thrown) {
      failure = thrown;
    }
    end(task, admitted ? bytes : 0, failure);
  }

  /** What is ready of a row group. */
  private final class Ready implements RowReader.Sink {
    private final Task task;

    Ready(Task task) {
      this.task = task;
    }

    @Override
    public RowBatch empty() {
      return emptyBatch();
    }

    @Override
    public boolean take(RowBatch batch) throws IOException {
      if (!hold(task, batch.bytes())) {
        return false;
      }
      add(task, batch);
      return true;
    }
  }

  /** Waits until there is room for so many bytes; false if nobody wants them any more. */
  private synchronized boolean hold(Task task, long bytes) throws InterruptedIOException {
    Workers.await(
        this,
        () -> stopped || held + bytes <= mostHeld || (task.number == head && task.ready.isEmpty()));
    held += stopped ? 0 : bytes;
    return !stopped;
  }

  private RowBatch emptyBatch() {
    synchronized (this) {
      RowBatch used = empty.poll();
      if (used != null) {
        return used;
      }
    }
    return new RowBatch(batches.get());
  }

  private synchronized void add(Task task, RowBatch batch) {
    task.ready.add(batch);
    notifyAll();
  }

  private synchronized void end(Task task, long bytes, @Nullable Throwable failure) {
    held -= bytes;
    task.ended = true;
    task.failure = failure;
    notifyAll();
  }

  /** The next batch of a row group, or null if there are no more. */
  private synchronized @Nullable RowBatch await(Task task) throws IOException {
    Workers.await(
        this, () -> !task.ready.isEmpty() || task.ended || workerFailure != null || stopped);
    RowBatch batch = task.ready.poll();
    if (batch != null && !stopped) {
      return batch;
    }
    if (stopped) {
      throw new InputException("stopped before the end of the input");
    }
    Throwable failure = task.failure != null ? task.failure : workerFailure;
    if (failure != null) {
      throw Workers.rethrown(failure);
    }
    return null;
  }

  private synchronized void giveBack(RowBatch batch) {
    held -= batch.bytes();
    if (empty.size() < 2 * threads) {
      empty.add(batch);
    }
    notifyAll();
  }

  private synchronized void next() {
    head++;
    notifyAll();
  }

  private synchronized List<Thread> started() {
    return new ArrayList<>(workers);
  }
}
