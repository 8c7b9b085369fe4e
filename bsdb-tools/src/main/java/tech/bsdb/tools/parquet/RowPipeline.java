package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.Batch;
import tech.bsdb.tools.input.OrderedPipeline;
import tech.bsdb.tools.parquet.ParquetFile.RowGroup;

/**
 * Reads row groups on several threads and delivers their rows on one, in the order of the input.
 *
 * <p>Each row group is a lane of an {@link OrderedPipeline}: a worker takes the next row group,
 * reads it, and adds its rows batch by batch. Memory is bounded: once the row groups and batches in
 * memory reach the limit, workers wait. The row group whose rows are awaited is exempt while it has
 * no batch ready, so the run cannot stall.
 */
final class RowPipeline {
  /**
   * A row group to read.
   *
   * @param number its place among all row groups, from 0
   * @param fileNumber the file's place among all files, from 0
   */
  record Task(int number, ParquetFile file, int fileNumber, RowGroup rowGroup) {}

  private final List<Task> tasks;
  private final Supplier<RowReader> readers;
  private final Supplier<Batch> batches;
  private final int threads;
  private final long maxHeld;
  private final OrderedPipeline<RowBatch> rows;

  // All below is guarded by this.
  private final Deque<RowBatch> empty = new ArrayDeque<>();
  private int taken;
  private long held;

  /**
   * A pipeline that has not started.
   *
   * @param maxHeld bytes of row groups and rows in memory beyond which workers wait
   */
  RowPipeline(
      List<Task> tasks,
      Supplier<RowReader> readers,
      Supplier<Batch> batches,
      int threads,
      long maxHeld) {
    this.tasks = tasks;
    this.readers = readers;
    this.batches = batches;
    this.threads = Math.min(threads, tasks.size());
    this.maxHeld = maxHeld;
    this.rows = new OrderedPipeline<>(this, "bsdb-parquet-", this.threads);
    rows.setLanes(tasks.size());
  }

  /**
   * Reads everything; may be called once.
   *
   * @param taker takes the number of a row group and its next batch, in the order of the input;
   *     then the batch belongs to the pipeline again
   * @throws IOException if reading or the taker fails; all workers have ended by then
   */
  void run(OrderedPipeline.Taker<RowBatch> taker) throws IOException {
    rows.run(
        this::work,
        (lane, batch) -> {
          taker.take(lane, batch);
          giveBack(batch);
        });
  }

  /** Makes the run end with an exception; may be called from any thread. */
  void stop() {
    rows.stop();
  }

  private void work() {
    try (RowReader reader = readers.get()) {
      for (Task task = take(); task != null; task = take()) {
        read(task, reader);
      }
    }
  }

  private synchronized @Nullable Task take() {
    return rows.isStopped() || taken == tasks.size() ? null : tasks.get(taken++);
  }

  private void read(Task task, RowReader reader) {
    Throwable failure = null;
    long bytes = task.rowGroup().bytes();
    boolean admitted = false;
    try {
      admitted = hold(task, bytes);
      if (admitted) {
        reader.read(task.file(), task.rowGroup(), new Ready(task));
      }
    } catch (Throwable thrown) {
      failure = thrown;
    }
    end(task, admitted ? bytes : 0, failure);
  }

  /** Receives the batches of a row group. */
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
      rows.add(task.number(), batch);
      return true;
    }
  }

  /** Waits until there is room for the given number of bytes; false if the run was stopped. */
  private synchronized boolean hold(Task task, long bytes) throws InterruptedIOException {
    boolean wanted = rows.await(() -> held + bytes <= maxHeld || rows.isAwaited(task.number()));
    held += wanted ? bytes : 0;
    return wanted;
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

  private synchronized void end(Task task, long bytes, @Nullable Throwable failure) {
    held -= bytes;
    rows.end(task.number(), failure);
    notifyAll();
  }

  private synchronized void giveBack(RowBatch batch) {
    held -= batch.bytes();
    if (empty.size() < 2 * threads) {
      empty.add(batch);
    }
    notifyAll();
  }
}
