package tech.bsdb.write;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.data.PackedWriter;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.write.CompressedBins.Block;

/**
 * Packs spilled records into bins and pages, in the order of their signatures. The {@link
 * SortedPasses passes} also compress them if requested.
 */
public final class PackStage {
  private static final int LONG_PART = 1 << 20;

  private final RecordSpill spill;
  private final PackedShape shape;
  private final SortedPasses passes;
  private final BooleanSupplier cancelled;
  private final CompressedBins.@Nullable Rule compression;
  private final KeyReceiver keys;
  private byte[] part = new byte[0];
  private long records;

  /**
   * Creates the stage.
   *
   * @param spill all records
   * @param shape the bins and pages to produce
   * @param memoryBytes the memory limit for concurrent passes; a single pass may exceed it
   * @param kept which of the records with the same key to keep
   * @param function gives the signatures
   * @param cancelled polled; true ends the stage with a {@link CancellationException}
   * @param compression how to compress the bins, or null
   * @param keys receives the key of each record that is not dropped
   */
  PackStage(
      RecordSpill spill,
      PackedShape shape,
      long memoryBytes,
      int threads,
      DuplicatePolicy kept,
      SignatureFunction function,
      BooleanSupplier cancelled,
      CompressedBins.@Nullable Rule compression,
      KeyReceiver keys) {
    this.spill = spill;
    this.shape = shape;
    this.passes =
        new SortedPasses(
            spill, shape, memoryBytes, threads, kept, function, cancelled, compression != null);
    this.cancelled = cancelled;
    this.compression = compression;
    this.keys = keys;
  }

  /** Writes the bins of a pass. */
  @FunctionalInterface
  private interface Output {
    void put(PackedWriter writer) throws IOException;
  }

  /** The packed records of a pass. */
  private record Packed(Output bins, int records) {}

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
    PackedWriter writer = new PackedWriter(files, shape.spanning(), index::add);
    passes.run(
        "bsdb-pack",
        sorted -> {
          keys.add(sorted);
          return new Packed(output(sorted, filter), sorted.records());
        },
        (packed, fromPartition) -> {
          writer.enter(fromPartition, RecordSpill.PARTITIONS);
          packed.bins.put(writer);
          records += packed.records;
          progress.accept(records);
        });
    writer.finish();
    return index.build();
  }

  /** The number of records written, without dropped ones. */
  long records() {
    return records;
  }

  private Output output(SortedBins sorted, @Nullable FilterWriter filter) throws IOException {
    Output records;
    if (compression == null) {
      records = writer -> put(sorted, writer);
    } else {
      List<List<Block>> bins = CompressedBins.of(sorted, spill, compression, cancelled);
      records = writer -> put(bins, writer);
    }
    return writer -> {
      records.put(writer);
      if (filter != null) {
        sorted.forEachSignature(filter::add);
      }
    };
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
          passes.checkNotCancelled();
        });
  }

  /** Receives the keys of records that are packed in the order of their signatures. Thread-safe. */
  @FunctionalInterface
  interface KeyReceiver {
    /** Ignores the keys. */
    KeyReceiver NONE = pass -> {};

    /** Receives the keys of a pass, on the thread that sorted it. Passes come in any order. */
    void add(SortedBins pass) throws IOException;
  }
}
