package tech.bsdb.write;

import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.OrderedTasks;

/** {@link Passes} over spilled records, which check them for duplicates. */
final class SortedPasses {
  /** Memory that a pass needs for each record, in addition to the record itself. */
  private static final int WORKING_BYTES = 48;

  private final RecordSpill spill;
  private final Passes<SortedBins> passes;

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
    this.passes =
        new Passes<>(
            () -> new SortedBins(shape.bins(), function, kept),
            shape.bins(),
            shape.units(),
            partition -> need(spill, partition, compresses),
            most(memoryBytes),
            memoryBytes,
            threads,
            cancelled);
  }

  private static long need(RecordSpill spill, int partition, boolean compresses) {
    long bytes = spill.bytes(partition) + WORKING_BYTES * spill.count(partition);
    return compresses // long values are in memory, and raw bytes and frames at once
        ? bytes + spill.bytes(partition) + 2 * spill.longBytes(partition)
        : bytes;
  }

  /** The memory that a pass should take: about a quarter of that for all. */
  private static long most(long memoryBytes) {
    return Math.max(1, Math.min(memoryBytes / 4, 1L << 29));
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
    long need = records * (entryBytes + WORKING_BYTES);
    return Passes.bytes(need, shape.units(), most(memoryBytes), memoryBytes, threads);
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

  /**
   * Runs all passes, and drops each partition after its last one.
   *
   * @param name the name of the threads
   */
  <T> void run(String name, Work<T> work, Taker<T> taker) throws IOException {
    try {
      passes.<T>run(
          name,
          passes.ranges(),
          (sorted, range) -> {
            sorted.load(spill, range);
            return work.of(sorted);
          },
          (result, range) -> {
            taker.take(result, range.fromPartition());
            for (int i = range.fromPartition(); i < range.toPartition() && range.isLast(); i++) {
              spill.drop(i);
            }
          });
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
  }

  /** Throws if the build was cancelled. */
  void checkNotCancelled() {
    passes.checkNotCancelled();
  }
}
