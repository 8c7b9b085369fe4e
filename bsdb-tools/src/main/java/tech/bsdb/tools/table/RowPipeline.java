package tech.bsdb.tools.table;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.Batch;
import tech.bsdb.tools.input.OrderedPipeline;

/**
 * Reads the parts of an input, such as row groups, on several threads and delivers their rows on
 * one, in the order of the input.
 *
 * <p>Each part is a lane of an {@link OrderedPipeline}: a worker takes the next part, reads it, and
 * adds its rows batch by batch. Memory is bounded: once the parts and batches in memory reach the
 * limit, workers wait. The part whose rows are awaited is exempt while it has no batch ready, so
 * the run cannot stall.
 *
 * @param <P> a part
 */
public final class RowPipeline<P> {
  /**
   * A part to read.
   *
   * @param number its place among all parts, from 0
   * @param file its file's place among all files, from 0
   * @param bytes what it takes in memory, and the measure of progress
   * @param ruledOut whether it is known to have no rows that are wanted, so that it is only counted
   */
  public record Task<P>(int number, int file, P part, long bytes, boolean ruledOut) {}

  private final List<Task<P>> tasks;
  private final Supplier<? extends PartReader<P>> readers;
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
   * @param maxHeld bytes of parts and rows in memory beyond which workers wait
   */
  public RowPipeline(
      List<Task<P>> tasks,
      Supplier<? extends PartReader<P>> readers,
      Supplier<Batch> batches,
      int threads,
      long maxHeld) {
    this.tasks = tasks;
    this.readers = readers;
    this.batches = batches;
    this.threads = Math.min(threads, tasks.size());
    this.maxHeld = maxHeld;
    this.rows = new OrderedPipeline<>(this, "bsdb-rows-", this.threads);
    rows.setLanes(tasks.size());
  }

  /**
   * Reads everything; may be called once.
   *
   * @param taker takes the number of a part and its next batch, in the order of the input; then the
   *     batch belongs to the pipeline again
   * @throws IOException if reading or the taker fails; all workers have ended by then
   */
  public void run(OrderedPipeline.Taker<RowBatch> taker) throws IOException {
    rows.run(
        this::work,
        (lane, batch) -> {
          taker.take(lane, batch);
          giveBack(batch);
        });
  }

  /** Makes the run end with an exception; may be called from any thread. */
  public void stop() {
    rows.stop();
  }

  private void work() {
    try (PartReader<P> reader = readers.get()) {
      for (Task<P> task = take(); task != null; task = take()) {
        read(task, reader);
      }
    }
  }

  private synchronized @Nullable Task<P> take() {
    return rows.isStopped() || taken == tasks.size() ? null : tasks.get(taken++);
  }

  private void read(Task<P> task, PartReader<P> reader) {
    Throwable failure = null;
    long bytes = task.bytes();
    boolean admitted = false;
    try {
      admitted = hold(task.number(), bytes);
      if (admitted) {
        reader.read(task.part(), new Ready(task.number()));
      }
    } catch (Throwable thrown) {
      failure = thrown;
    }
    end(task.number(), admitted ? bytes : 0, failure);
  }

  /** Receives the batches of a part. */
  private final class Ready implements PartReader.Sink {
    private final int part;

    Ready(int part) {
      this.part = part;
    }

    @Override
    public RowBatch empty() {
      return emptyBatch();
    }

    @Override
    public boolean take(RowBatch batch) throws IOException {
      if (!hold(part, batch.bytes())) {
        return false;
      }
      rows.add(part, batch);
      return true;
    }
  }

  /** Waits until there is room for the given number of bytes; false if the run was stopped. */
  private synchronized boolean hold(int part, long bytes) throws InterruptedIOException {
    boolean wanted = rows.await(() -> held + bytes <= maxHeld || rows.isAwaited(part));
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

  private synchronized void end(int part, long bytes, @Nullable Throwable failure) {
    held -= bytes;
    rows.end(part, failure);
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
