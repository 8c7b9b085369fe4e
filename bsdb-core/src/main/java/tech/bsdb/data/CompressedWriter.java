package tech.bsdb.data;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.RecordWriter.RecordSink;
import tech.bsdb.format.BlockFrame;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.OrderedTasks;

/**
 * Writes the compressed layout: groups records into blocks and compresses each block into its own
 * ZSTD frame (FORMAT.md §4). Blocks are compressed on all threads and written in order, so the
 * output does not depend on the number of threads.
 */
public final class CompressedWriter implements RecordWriter {
  /** Raw bytes per compression task. */
  private static final int GROUP_BYTES = 1 << 18;

  private final DataFiles files;
  private final RecordAddress addresses;
  private final RecordSink sink;
  private final int blockSize;
  private final BlockCompressor compressor;
  private final OrderedTasks<Group> compressing;
  private final byte[] frame = new byte[BlockFrame.MAX];
  private Group group = new Group();
  private int longestFrame;

  /** Creates a writer of blocks of {@code blockSize} raw bytes at a ZSTD level. */
  public CompressedWriter(
      DataFiles files,
      RecordAddress addresses,
      RecordSink sink,
      int blockSize,
      int level,
      byte @Nullable [] dictionary,
      int threads) {
    this.files = files;
    this.addresses = addresses;
    this.sink = sink;
    this.blockSize = blockSize;
    this.compressor = new BlockCompressor(level, dictionary);
    this.compressing = new OrderedTasks<>("bsdb-compress", threads, 2 * threads + 1, this::write);
  }

  /**
   * The bytes of all blocks of records of equal length, none of which compresses.
   *
   * @param records the number of records
   * @param length the length of a record, with its header
   * @param blockSize raw bytes per block
   */
  public static long storedBytes(long records, long length, int blockSize) {
    long perBlock = Math.max(1, blockSize / length);
    long full = records / perBlock;
    long rest = records % perBlock;
    byte[] head = new byte[BlockFrame.MAX];
    return records * length
        + full * BlockFrame.putStored(head, perBlock * length)
        + (rest == 0 ? 0 : BlockFrame.putStored(head, rest * length));
  }

  /**
   * The most content pages of any records, in all files.
   *
   * @param bytes bytes of all records with their headers
   */
  public static long mostPages(long records, long bytes, int blockSize) {
    long blocks = Math.min(records, 2 * bytes / blockSize + 1); // two neighbors exceed a block
    return (bytes + blocks * BlockFrame.MAX) / Page.PAYLOAD + 1;
  }

  /** The length of the longest frame, excluding blocks that hold a single large record. */
  public int longestFrame() {
    return longestFrame;
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    long length = record.length();
    if (length > BlockCompressor.MOST) {
      submit();
      drain();
      store(record);
      return;
    }
    if (group.blockLength() > 0 && group.blockLength() + length > blockSize) {
      group.endBlock();
      if (group.used >= GROUP_BYTES) {
        submit();
      }
    }
    group.add(record);
  }

  private void store(FramedRecord record) throws IOException {
    PageEncoder pages = files.next();
    long position = pages.position();
    pages.put(frame, 0, BlockFrame.putStored(frame, record.length()));
    record.put(pages);
    files.wrote();
    sink.placed(record, addresses.pack(files.current(), position, 0));
  }

  private void submit() throws IOException {
    group.endBlock();
    if (group.records == 0) {
      return;
    }
    Group full = group;
    group = new Group();
    try {
      compressing.submit(() -> compress(full));
    } catch (ExecutionException e) {
      throw failed(e);
    }
  }

  private Group compress(Group full) {
    full.compress(compressor);
    return full;
  }

  private void drain() throws IOException {
    try {
      compressing.drain();
    } catch (ExecutionException e) {
      throw failed(e);
    }
  }

  private static IOException failed(ExecutionException e) {
    if (e.getCause() instanceof Error error) {
      throw error;
    }
    return new IOException("compression failed: " + e.getCause(), e.getCause());
  }

  private void write(Group done) throws IOException {
    int record = 0;
    for (int block = 0; block < done.frames.size(); block++) {
      byte[] bytes = done.frames.get(block);
      int rawStart = done.starts[block];
      int rawLength = done.starts[block + 1] - rawStart;
      PageEncoder pages = files.next();
      long position = pages.position();
      if (bytes == null) {
        pages.put(frame, 0, BlockFrame.putStored(frame, rawLength));
        pages.put(done.raw, rawStart, rawLength);
      } else {
        pages.put(frame, 0, BlockFrame.putCompressed(frame, rawLength, bytes.length));
        pages.put(bytes, 0, bytes.length);
      }
      files.wrote();
      if (rawLength <= blockSize) {
        longestFrame =
            Math.max(longestFrame, BlockFrame.MAX + (bytes == null ? rawLength : bytes.length));
      }
      for (; record < done.records && done.offsets[record] < rawStart + rawLength; record++) {
        sink.placed(
            done.record(record),
            addresses.pack(files.current(), position, done.offsets[record] - rawStart));
      }
    }
  }

  @Override
  public void finish() throws IOException {
    submit();
    drain();
  }

  /** Stops the threads, then frees the compressor that they use. */
  @Override
  public void close() {
    compressing.close();
    compressor.close();
  }

  /** The raw records of consecutive blocks and, after compression, their frames. */
  private static final class Group {
    private byte[] raw = new byte[GROUP_BYTES + (GROUP_BYTES >> 2)];
    private int used;
    private int[] starts = new int[64];
    private int blocks;
    private long[] signatures = new long[512];
    private int[] offsets = new int[256];
    private int records;
    private final FramedRecord view = new FramedRecord();
    private final List<byte @Nullable []> frames = new ArrayList<>();

    /** A view of a record's signature and key. */
    FramedRecord record(int number) {
      int start = offsets[number];
      int headLength = RecordFrame.headLengthAt(raw, start);
      view.high = signatures[2 * number];
      view.low = signatures[2 * number + 1];
      view.head = raw;
      view.headStart = start;
      view.keyLength = RecordFrame.keyLength(RecordFrame.header(raw, start));
      view.headLength = headLength + view.keyLength;
      return view;
    }

    int blockLength() {
      return used - starts[blocks];
    }

    void add(FramedRecord record) {
      if (records == offsets.length) {
        offsets = Arrays.copyOf(offsets, 2 * records);
        signatures = Arrays.copyOf(signatures, 4 * records);
      }
      signatures[2 * records] = record.high;
      signatures[2 * records + 1] = record.low;
      offsets[records++] = used;
      append(record.head, record.headStart, record.headLength);
      append(record.value, record.valueStart, record.valueLength);
    }

    private void append(byte[] bytes, int from, int length) {
      if (raw.length - used < length) {
        raw =
            Arrays.copyOf(
                raw, Math.max(used + length, Math.min(2 * raw.length, used + length + (1 << 24))));
      }
      System.arraycopy(bytes, from, raw, used, length);
      used += length;
    }

    void endBlock() {
      if (blockLength() > 0) {
        blocks++;
        if (blocks == starts.length) {
          starts = Arrays.copyOf(starts, 2 * blocks);
        }
        starts[blocks] = used;
      }
    }

    void compress(BlockCompressor compressor) {
      for (int block = 0; block < blocks; block++) {
        frames.add(compressor.frame(raw, starts[block], starts[block + 1]));
      }
    }
  }
}
