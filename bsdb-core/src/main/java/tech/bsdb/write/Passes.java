package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;
import tech.bsdb.io.OrderedTasks;

/**
 * Passes over entries that were spilled by their signatures, in the order of these.
 *
 * <p>A pass covers a range of bins: it reads their entries from the spill and sorts them. Passes
 * run on all threads within the given memory, and are taken in order. Neither the memory nor the
 * number of threads affects what comes out.
 *
 * @param <R> holds the entries of a pass
 */
final class Passes<R extends SignatureRun> {
  private static final int PARTITIONS = SignatureSpill.PARTITIONS;

  private final Supplier<R> newRun;
  private final int threads;
  private final BooleanSupplier cancelled;
  private final List<Range> ranges = new ArrayList<>();
  private final int concurrent;
  private final Queue<R> free = new ConcurrentLinkedQueue<>();

  /**
   * The bins of a pass, and the partitions that hold them.
   *
   * @param number the number of passes before this one
   * @param part how many passes over these partitions come before this one
   * @param parts the number of passes over them
   */
  record Range(
      int number,
      int fromPartition,
      int toPartition,
      long fromBin,
      long toBin,
      int part,
      int parts) {
    /** Whether no other pass reads these partitions later. */
    boolean isLast() {
      return part + 1 == parts;
    }

    /** The share of the entries in these partitions that the bins should hold. */
    double share(long bins) {
      return (double) (toBin - fromBin) * PARTITIONS / bins / (toPartition - fromPartition);
    }
  }

  /** Turns the entries of a pass into a result, on one of several threads. */
  @FunctionalInterface
  interface Work<R, T> {
    /** Reads the entries of a range of bins into a run, which may hold others, and uses them. */
    T of(R run, Range range) throws Exception;
  }

  /** Receives the results in order, on the thread that runs the passes. */
  @FunctionalInterface
  interface Taker<T> {
    void take(T result, Range range) throws IOException;
  }

  private record Result<R, T>(R run, T value, Range range) {}

  /**
   * Plans the passes.
   *
   * @param newRun creates a run, which is used again for later passes
   * @param bins the number of bins
   * @param units the number of ranges of bins that consist of whole partitions, a power of two
   * @param need the memory that the entries of a partition need
   * @param passBytes the memory that a pass should take at most
   * @param memoryBytes the memory limit for concurrent passes; a single pass may exceed it
   * @param cancelled polled; true ends the passes with a {@link CancellationException}
   */
  Passes(
      Supplier<R> newRun,
      long bins,
      int units,
      IntToLongFunction need,
      long passBytes,
      long memoryBytes,
      int threads,
      BooleanSupplier cancelled) {
    this.newRun = newRun;
    this.threads = threads;
    this.cancelled = cancelled;
    int perUnit = PARTITIONS / units;
    long binsPerUnit = bins / units;
    long largest = 1;
    for (int unit = 0; unit < units; unit++) {
      int from = unit * perUnit;
      long bytes = 0;
      for (int i = from; i < from + perUnit; i++) {
        bytes += need.applyAsLong(i);
      }
      int parts = (int) Math.min(binsPerUnit, parts(bytes, passBytes));
      largest = Math.max(largest, bytes / parts);
      for (int part = 0; part < parts; part++) {
        long fromBin = unit * binsPerUnit + binsPerUnit * part / parts;
        long toBin = unit * binsPerUnit + binsPerUnit * (part + 1) / parts;
        ranges.add(new Range(ranges.size(), from, from + perUnit, fromBin, toBin, part, parts));
      }
    }
    this.concurrent = concurrent(largest, memoryBytes, threads);
  }

  /**
   * The memory of all passes.
   *
   * @param need the memory that all entries need, whose signatures are random
   * @param units the number of ranges of bins that consist of whole partitions
   * @param passBytes the memory that a pass should take at most
   * @param memoryBytes the memory limit for concurrent passes
   */
  static long bytes(long need, int units, long passBytes, long memoryBytes, int threads) {
    long unit = need / units;
    long pass = Math.max(1, unit / parts(unit, passBytes));
    return Math.min(unit * units, pass * concurrent(pass, memoryBytes, threads));
  }

  private static long parts(long bytes, long passBytes) {
    return Math.max(1, (bytes - 1) / passBytes + 1);
  }

  private static int concurrent(long largest, long memoryBytes, int threads) {
    return (int) Math.max(1, Math.min(threads + 1L, memoryBytes / largest));
  }

  /** The ranges of bins of all passes, in order. */
  List<Range> ranges() {
    return ranges;
  }

  /**
   * Runs passes. None is running when this method returns, so the spill can be deleted.
   *
   * @param name the name of the threads
   * @param some the ranges of bins of these passes, in order
   */
  <T> void run(String name, List<Range> some, Work<R, T> work, Taker<T> taker)
      throws IOException, ExecutionException {
    OrderedTasks.Taker<Result<R, T>> results =
        result -> {
          checkNotCancelled();
          taker.take(result.value, result.range);
          if (!result.run.hasGrown()) {
            free.add(result.run);
          }
        };
    try (OrderedTasks<Result<R, T>> running =
        new OrderedTasks<>(name, Math.min(threads, concurrent), concurrent, results)) {
      for (Range range : some) {
        checkNotCancelled();
        running.submit(
            () -> {
              R unused = free.poll();
              R run = unused != null ? unused : newRun.get();
              return new Result<>(run, work.of(run, range), range);
            });
      }
      running.drain();
    }
  }

  /** Throws if the build was cancelled. */
  void checkNotCancelled() {
    if (cancelled.getAsBoolean()) {
      throw new CancellationException("the build was cancelled");
    }
  }
}
