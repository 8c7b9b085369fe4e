package tech.bsdb.build;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.build.CompressedBins.Block;
import tech.bsdb.data.PackedWriter;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.work.OrderedTasks;

/**
 * Packs spilled records into bins and pages, in the order of their signatures.
 *
 * <p>A pass covers a range of bins: it reads their records from the spill, sorts them, checks them
 * for duplicates, and compresses them if requested. Passes run on all threads within the given
 * memory, and are written in order. The output depends neither on the memory nor on the number of
 * threads.
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
  private final CompressedBins.@Nullable Rule compression;
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
   * @param compression how to compress the bins, or null
   */
  PackStage(
      RecordSpill spill,
      PackedShape shape,
      long memoryBytes,
      int threads,
      DuplicateRule kept,
      long seed,
      BooleanSupplier cancelled,
      CompressedBins.@Nullable Rule compression) {
    this.spill = spill;
    this.shape = shape;
    this.memoryBytes = memoryBytes;
    this.threads = threads;
    this.kept = kept;
    this.seed = seed;
    this.cancelled = cancelled;
    this.compression = compression;
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

  /** Writes the bins of a pass. */
  @FunctionalInterface
  private interface Output {
    void put(PackedWriter writer) throws IOException;
  }

  /** The packed records of a pass, which is the last of its partitions or not. */
  private record Packed(
      Output bins, int records, int fromPartition, int toPartition, boolean last) {}

  /**
   * Writes all records.
   *
   * @param files receive the pages; each gets an equal share of the partitions
   * @param filter receives the signatures of all records, in order; null for none
   * @param progress receives the number of records written so far
   * @return the index of the pages
   */
  BinIndex write(List<PageEncoder> files, @Nullable FilterWriter filter, LongConsumer progress)
      throws IOException {
    BinIndex.Builder index = new BinIndex.Builder(shape.bins(), shape.spanning());
    PackedWriter writer = new PackedWriter(files.get(0), shape.spanning(), index::add);
    int units = shape.units();
    int[] file = {0};
    OrderedTasks.Taker<Packed> taker =
        packed -> {
          checkNotCancelled();
          int wanted = (int) ((long) packed.fromPartition * files.size() / RecordSpill.PARTITIONS);
          while (file[0] < wanted) {
            writer.nextFile(files.get(++file[0]));
          }
          packed.bins.put(writer);
          if (packed.last) {
            for (int i = packed.fromPartition; i < packed.toPartition; i++) {
              spill.drop(i);
            }
          }
          records += packed.records;
          progress.accept(records);
        };
    try (OrderedTasks<Packed> running =
        new OrderedTasks<>("bsdb-pack", threads, concurrent(), taker)) {
      for (int unit = 0; unit < units; unit++) {
        submit(unit, filter, running);
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

  private void submit(int unit, @Nullable FilterWriter filter, OrderedTasks<Packed> running)
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
            SortedBins sorted =
                SortedBins.load(
                    spill, fromPartition, toPartition, shape.bins(), from, to, seed, kept);
            return new Packed(
                output(sorted, filter), sorted.records(), fromPartition, toPartition, last);
          });
    }
  }

  private Output output(SortedBins sorted, @Nullable FilterWriter filter) throws IOException {
    if (compression == null) {
      return writer -> {
        put(sorted, writer);
        if (filter != null) {
          sorted.forEachSignature(filter::add);
        }
      };
    }
    List<List<Block>> bins = CompressedBins.of(sorted, spill, compression, cancelled);
    if (filter == null) {
      return writer -> put(bins, writer);
    }
    long[] signatures = signatures(sorted); // without the records, whose memory can be freed
    return writer -> {
      put(bins, writer);
      for (int i = 0; i < signatures.length; i += 2) {
        filter.add(signatures[i], signatures[i + 1]);
      }
    };
  }

  private static long[] signatures(SortedBins sorted) throws IOException {
    long[] signatures = new long[Math.multiplyExact(2, sorted.records())];
    int[] used = {0};
    sorted.forEachSignature(
        (high, low) -> {
          signatures[used[0]++] = high;
          signatures[used[0]++] = low;
        });
    return signatures;
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
      if (compression != null) { // long values are in memory, and raw bytes and frames at once
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

  private void put(SortedBins sorted, PackedWriter writer) throws IOException {
    byte[] bytes = sorted.bytes();
    for (int bin = 0; bin < sorted.bins(); bin++) {
      int end = sorted.start(bin + 1);
      long length = 0;
      for (int i = sorted.start(bin); i < end; i++) {
        length += sorted.length(i);
      }
      writer.startBin(length, sorted.filter(bin));
      for (int i = sorted.start(bin); i < end; i++) {
        int from = sorted.recordStart(i);
        put(bytes, from, sorted.recordEnd(i), SortedBins.elsewhere(bytes, from), writer);
      }
    }
  }

  private void put(List<List<Block>> bins, PackedWriter writer) throws IOException {
    for (List<Block> bin : bins) {
      long length = 0;
      for (Block block : bin) {
        length += block.length();
      }
      writer.startBin(length, 0);
      for (Block block : bin) {
        put(block.bytes(), 0, block.bytes().length, block.elsewhere(), writer);
      }
    }
  }

  /** Puts bytes, the last of which refer to a long value if its length is not 0. */
  private void put(byte[] bytes, int from, int end, int valueLength, PackedWriter writer)
      throws IOException {
    if (valueLength == 0) {
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
