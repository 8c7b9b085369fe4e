package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import tech.bsdb.data.BlockCompressor;
import tech.bsdb.format.BlockFrame;

/** The records of a range of bins in compressed blocks (FORMAT.md §12). */
final class CompressedBins {
  /**
   * How to compress.
   *
   * @param compressor compresses blocks; not closed here
   * @param blockSize the most raw bytes of a block of several records
   */
  record Rule(BlockCompressor compressor, int blockSize) {}

  /**
   * A block.
   *
   * @param bytes its header and content
   * @param elsewhere if not 0, the length of a long value, which a reference replaces at the end
   */
  record Block(byte[] bytes, int elsewhere) {
    /** The length in the database. */
    long length() {
      return elsewhere == 0
          ? bytes.length
          : bytes.length - RecordSpill.REFERENCE + (long) elsewhere;
    }
  }

  private static final int LONG_PART = 1 << 16;

  /** Raw bytes to keep an array for. */
  private static final int KEEP = 1 << 20;

  private final RecordSpill spill;
  private final Rule rule;
  private final List<Block> blocks = new ArrayList<>();
  private final byte[] header = new byte[BlockFrame.MAX];
  private byte[] raw = new byte[0];
  private int used;
  private byte[] longPart = new byte[0];

  /** The part of the bin in which the last record lies. */
  private int part;

  private CompressedBins(RecordSpill spill, Rule rule) {
    this.spill = spill;
    this.rule = rule;
  }

  /**
   * Compresses sorted records.
   *
   * @param spill holds their long values
   * @param cancelled polled; true ends the work with a {@link CancellationException}
   * @return the blocks of each bin
   */
  static List<List<Block>> of(
      SortedBins sorted, RecordSpill spill, Rule rule, BooleanSupplier cancelled)
      throws IOException {
    CompressedBins compressed = new CompressedBins(spill, rule);
    List<List<Block>> bins = new ArrayList<>(sorted.bins());
    for (int bin = 0; bin < sorted.bins(); bin++) {
      if (cancelled.getAsBoolean()) {
        throw new CancellationException("the build was cancelled");
      }
      compressed.add(sorted, sorted.start(bin), sorted.start(bin + 1));
      bins.add(List.copyOf(compressed.blocks));
      compressed.blocks.clear();
    }
    return bins;
  }

  /** Adds the blocks of a bin. */
  private void add(SortedBins sorted, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      long length = sorted.length(i);
      if (used + length > rule.blockSize) {
        endBlock();
      }
      part = sorted.part(i);
      if (length > BlockCompressor.MOST) {
        store(sorted.bytes(), sorted.recordStart(i), sorted.recordEnd(i), length);
      } else {
        append(sorted.bytes(), sorted.recordStart(i), sorted.recordEnd(i), (int) length);
      }
    }
    endBlock();
  }

  private void append(byte[] bytes, int from, int end, int length) throws IOException {
    if (raw.length - used < length) {
      raw = Arrays.copyOf(raw, Math.max(used + length, 2 * used));
    }
    int elsewhere = SortedBins.elsewhere(bytes, from);
    if (elsewhere == 0) {
      System.arraycopy(bytes, from, raw, used, length);
      used += length;
      return;
    }
    int reference = end - RecordSpill.REFERENCE;
    System.arraycopy(bytes, from, raw, used, reference - from);
    used += reference - from;
    if (longPart.length == 0) {
      longPart = new byte[LONG_PART];
    }
    spill.readLong(
        bytes,
        reference,
        elsewhere,
        longPart,
        (read, count) -> {
          System.arraycopy(read, 0, raw, used, count);
          used += count;
        });
  }

  private void endBlock() {
    if (used == 0) {
      return;
    }
    byte[] frame = rule.compressor.frame(raw, 0, used);
    if (frame == null) {
      int head = BlockFrame.putStored(header, used);
      blocks.add(new Block(block(head, raw, 0, used), 0));
    } else {
      int head = BlockFrame.putCompressed(header, used, frame.length);
      blocks.add(new Block(block(head, frame, 0, frame.length), 0));
    }
    used = 0;
    if (raw.length > 2 * KEEP) {
      raw = new byte[0]; // that of a large record
    }
  }

  /** Adds a stored block of one record. */
  private void store(byte[] bytes, int from, int end, long length) {
    int head = BlockFrame.putStored(header, length);
    byte[] block = block(head, bytes, from, end);
    blocks.add(new Block(block, SortedBins.elsewhere(bytes, from)));
  }

  private byte[] block(int head, byte[] content, int from, int end) {
    byte[] block = new byte[1 + head + end - from];
    block[0] = (byte) part;
    System.arraycopy(header, 0, block, 1, head);
    System.arraycopy(content, from, block, 1 + head, end - from);
    return block;
  }
}
