package tech.bsdb.build;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.PackedWriter;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.index.BinIndex;
import tech.bsdb.work.OrderedTasks;

/**
 * Packs spilled records into bins and pages, in the order of their signatures.
 *
 * <p>A pass covers a range of bins: it reads their records from the spill, sorts them and checks
 * them for duplicates. Passes run on all threads within the given memory, and are written in order.
 * The output depends neither on the memory nor on the number of threads.
 */
public final class PackStage {
  /** Memory that a pass needs for each record, in addition to the record itself. */
  private static final int WORKING_BYTES = 48;

  private static final int LONG_PART = 1 << 20;

  private final RecordSpill spill;
  private final PackedShape shape;
  private final long memoryBytes;
  private final int threads;
  private final DuplicateRule kept;
  private final long seed;
  private final BooleanSupplier cancelled;
  private byte[] part = new byte[0];
  private long records;

  /**
   * Creates the stage.
   *
   * @param spill all records
   * @param shape the bins and pages to produce
   * @param memoryBytes the memory limit for concurrent passes; a single pass may exceed it
   * @param kept which of the records with the same key to keep
   * @param seed the seed of the signatures
   * @param cancelled polled; true ends the stage with a {@link CancellationException}
   */
  PackStage(
      RecordSpill spill,
      PackedShape shape,
      long memoryBytes,
      int threads,
      DuplicateRule kept,
      long seed,
      BooleanSupplier cancelled) {
    this.spill = spill;
    this.shape = shape;
    this.memoryBytes = memoryBytes;
    this.threads = threads;
    this.kept = kept;
    this.seed = seed;
    this.cancelled = cancelled;
  }

  /**
   * The memory of all passes.
   *
   * @param records the number of records of equal length, with random signatures
   * @param entryBytes bytes of a record in the spill
   * @param memoryBytes the memory limit for concurrent passes
   */
  static long passBytes(
      long records, long entryBytes, PackedShape shape, long memoryBytes, int threads) {
    long unit = records * (entryBytes + WORKING_BYTES) / shape.units();
    long pass = Math.max(1, unit / Math.max(1, ceiling(unit, memoryBytes)));
    return Math.min(unit * shape.units(), pass * concurrent(pass, memoryBytes, threads));
  }

  /** The sorted records of a pass, which is the last of its partitions or not. */
  private record Sorted(SortedBins bins, int fromPartition, int toPartition, boolean last) {}

  /**
   * Writes all records.
   *
   * @param files receive the pages; each gets an equal share of the partitions
   * @param progress receives the number of records written so far
   * @return the index of the pages
   */
  BinIndex write(List<PageEncoder> files, LongConsumer progress) throws IOException {
    BinIndex.Builder index = new BinIndex.Builder(shape.bins(), shape.spanning());
    PackedWriter writer = new PackedWriter(files.get(0), shape.spanning(), index::add);
    int units = shape.units();
    int[] file = {0};
    OrderedTasks.Taker<Sorted> taker =
        sorted -> {
          checkNotCancelled();
          int wanted = (int) ((long) sorted.fromPartition * files.size() / RecordSpill.PARTITIONS);
          while (file[0] < wanted) {
            writer.nextFile(files.get(++file[0]));
          }
          put(sorted.bins, writer);
          if (sorted.last) {
            for (int i = sorted.fromPartition; i < sorted.toPartition; i++) {
              spill.drop(i);
            }
          }
          records += sorted.bins.records();
          progress.accept(records);
        };
    try (OrderedTasks<Sorted> running =
        new OrderedTasks<>("bsdb-pack", threads, concurrent(), taker)) {
      for (int unit = 0; unit < units; unit++) {
        submit(unit, running);
      }
      running.drain();
    } catch (ExecutionException e) {
      rethrow(e.getCause());
    }
    writer.finish();
    return index.build();
  }

  /** The number of records written, without dropped ones. */
  long records() {
    return records;
  }

  private void submit(int unit, OrderedTasks<Sorted> running)
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
          () ->
              new Sorted(
                  SortedBins.load(
                      spill, fromPartition, toPartition, shape.bins(), from, to, seed, kept),
                  fromPartition,
                  toPartition,
                  last));
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

  private void put(SortedBins sorted, PackedWriter writer) throws IOException {
    byte[] bytes = sorted.bytes();
    for (int bin = 0; bin < sorted.bins(); bin++) {
      int end = sorted.start(bin + 1);
      long length = 0;
      for (int i = sorted.start(bin); i < end; i++) {
        length += length(bytes, sorted.recordStart(i), sorted.recordEnd(i));
      }
      writer.startBin(length);
      for (int i = sorted.start(bin); i < end; i++) {
        put(bytes, sorted.recordStart(i), sorted.recordEnd(i), writer);
      }
    }
  }

  /** The length of a record, including a long value that is elsewhere. */
  private static long length(byte[] bytes, int from, int end) {
    if (bytes[from] != 0) { // a short header
      int valueLength = (bytes[from + 1] & 0xFF) | (bytes[from + 2] & 0xFF) << 8;
      return valueLength > RecordSpill.LONG_VALUE
          ? RecordFrame.SHORT + (bytes[from] & 0xFF) + valueLength
          : end - from;
    }
    int valueLength = RecordFrame.valueLength(RecordFrame.header(bytes, from));
    return valueLength > RecordSpill.LONG_VALUE
        ? end - from - RecordSpill.REFERENCE + (long) valueLength
        : end - from;
  }

  private void put(byte[] bytes, int from, int end, PackedWriter writer) throws IOException {
    int valueLength = RecordFrame.valueLength(RecordFrame.header(bytes, from));
    if (valueLength <= RecordSpill.LONG_VALUE) {
      writer.put(bytes, from, end - from);
      return;
    }
    int reference = end - RecordSpill.REFERENCE;
    writer.put(bytes, from, reference - from);
    if (part.length == 0) {
      part = new byte[LONG_PART];
    }
    spill.readLong(
        bytes,
        reference,
        valueLength,
        part,
        (read, length) -> {
          writer.put(read, 0, length);
          checkNotCancelled();
        });
  }

  private void checkNotCancelled() {
    if (cancelled.getAsBoolean()) {
      throw new CancellationException("the build was cancelled");
    }
  }

  private static void rethrow(@Nullable Throwable cause) throws IOException {
    if (cause instanceof IOException e) {
      throw e;
    }
    if (cause instanceof Error e) {
      throw e;
    }
    throw cause instanceof RuntimeException e ? e : new IllegalStateException(cause);
  }
}
