package tech.bsdb.write;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.OrderedTasks;

/**
 * Passes over spilled records in the order of their signatures.
 *
 * <p>A pass covers a range of bins: it reads their records from the spill, sorts them and checks
 * them for duplicates. Passes run on all threads within the given memory, and are taken in order.
 * Neither the memory nor the number of threads affects what comes out.
 */
final class SortedPasses {
  /** Memory that a pass needs for each record, in addition to the record itself. */
  private static final int WORKING_BYTES = 48;

  private final RecordSpill spill;
  private final PackedShape shape;
  private final long memoryBytes;
  private final int threads;
  private final DuplicatePolicy kept;
  private final SignatureFunction function;
  private final BooleanSupplier cancelled;
  private final boolean compresses;
  private final Queue<SortedBins> free = new ConcurrentLinkedQueue<>();

  /**
   * Creates the passes.
   *
   * @param spill all records
   * @param shape the bins
   * @param memoryBytes the memory limit for concurrent passes; a single pass may exceed it
   * @param kept which of the records with the same key to keep
   * @param function gives the signatures
   * @param cancelled polled; true ends the passes with a {@link CancellationException}
   * @param compresses whether records will be compressed, which needs more memory
   */
  SortedPasses(
      RecordSpill spill,
      PackedShape shape,
      long memoryBytes,
      int threads,
      DuplicatePolicy kept,
      SignatureFunction function,
      BooleanSupplier cancelled,
      boolean compresses) {
    this.spill = spill;
    this.shape = shape;
    this.memoryBytes = memoryBytes;
    this.threads = threads;
    this.kept = kept;
    this.function = function;
    this.cancelled = cancelled;
    this.compresses = compresses;
  }

  /**
   * The memory of all passes.
   *
   * @param records the number of records of equal length, with random signatures
   * @param entryBytes bytes of a record in the spill
   * @param memoryBytes the memory limit for concurrent passes
   */
  static long bytes(
      long records, long entryBytes, PackedShape shape, long memoryBytes, int threads) {
    long unit = records * (entryBytes + WORKING_BYTES) / shape.units();
    long pass = Math.max(1, unit / Math.max(1, ceiling(unit, memoryBytes)));
    return Math.min(unit * shape.units(), pass * concurrent(pass, memoryBytes, threads));
  }

  /** Turns the records of a pass into a result, on one of several threads. */
  @FunctionalInterface
  interface Work<T> {
    T of(SortedBins sorted) throws IOException;
  }

  /** Receives the results in order, on the thread that runs the passes. */
  @FunctionalInterface
  interface Taker<T> {
    /**
     * Receives a result.
     *
     * @param fromPartition the first partition of the pass
     */
    void take(T result, int fromPartition) throws IOException;
  }

  /** The result of a pass, which is the last of its partitions or not. */
  private record Result<T>(
      T value, SortedBins sorted, int fromPartition, int toPartition, boolean last) {}

  /**
   * Runs all passes, and drops each partition after its last one.
   *
   * @param name the name of the threads
   */
  <T> void run(String name, Work<T> work, Taker<T> taker) throws IOException {
    OrderedTasks.Taker<Result<T>> results =
        result -> {
          checkNotCancelled();
          taker.take(result.value, result.fromPartition);
          if (!result.sorted.hasGrown()) {
            free.add(result.sorted);
          }
          if (result.last) {
            for (int i = result.fromPartition; i < result.toPartition; i++) {
              spill.drop(i);
            }
          }
        };
    try (OrderedTasks<Result<T>> running =
        new OrderedTasks<>(name, threads, concurrent(), results)) {
      for (int unit = 0; unit < shape.units(); unit++) {
        submit(unit, work, running);
      }
      running.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
  }

  private <T> void submit(int unit, Work<T> work, OrderedTasks<Result<T>> running)
      throws IOException, ExecutionException {
    int perUnit = RecordSpill.PARTITIONS / shape.units();
    int fromPartition = unit * perUnit;
    int toPartition = fromPartition + perUnit;
    long binsPerUnit = shape.bins() / shape.units();
    long parts = Math.max(1, Math.min(binsPerUnit, ceiling(need(fromPartition, toPartition))));
    for (long i = 0; i < parts; i++) {
      long from = unit * binsPerUnit + binsPerUnit * i / parts;
      long to = unit * binsPerUnit + binsPerUnit * (i + 1) / parts;
      boolean last = i + 1 == parts;
      checkNotCancelled();
      running.submit(
          () -> {
            SortedBins unused = free.poll();
            SortedBins sorted =
                unused != null ? unused : new SortedBins(shape.bins(), function, kept);
            sorted.load(spill, fromPartition, toPartition, from, to);
            return new Result<>(work.of(sorted), sorted, fromPartition, toPartition, last);
          });
    }
  }

  /** Throws if the build was cancelled. */
  void checkNotCancelled() {
    if (cancelled.getAsBoolean()) {
      throw new CancellationException("the build was cancelled");
    }
  }

  private long ceiling(long bytes) {
    return ceiling(bytes, memoryBytes);
  }

  /** The number of passes for partitions that need so much memory; about a quarter of it each. */
  private static long ceiling(long bytes, long memoryBytes) {
    long most = Math.max(1, Math.min(memoryBytes / 4, 1L << 29));
    return (bytes + most - 1) / most;
  }

  private long need(int fromPartition, int toPartition) {
    long bytes = 0;
    for (int i = fromPartition; i < toPartition; i++) {
      bytes += spill.bytes(i) + WORKING_BYTES * spill.count(i);
      if (compresses) { // long values are in memory, and raw bytes and frames at once
        bytes += spill.bytes(i) + 2 * spill.longBytes(i);
      }
    }
    return bytes;
  }

  /** The number of passes whose records may be in memory. */
  private int concurrent() {
    int perUnit = RecordSpill.PARTITIONS / shape.units();
    long largest = 1;
    for (int unit = 0; unit < shape.units(); unit++) {
      long need = need(unit * perUnit, (unit + 1) * perUnit);
      largest = Math.max(largest, need / Math.max(1, ceiling(need)));
    }
    return concurrent(largest, memoryBytes, threads);
  }

  private static int concurrent(long largest, long memoryBytes, int threads) {
    return (int) Math.max(1, Math.min(threads + 1L, memoryBytes / largest));
  }
}
