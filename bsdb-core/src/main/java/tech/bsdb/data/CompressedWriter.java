package tech.bsdb.data;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDictCompress;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.BlockFrame;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordAddress;

/**
 * Writes the compressed layout: records are gathered in blocks, and each block becomes a ZSTD frame
 * of its own (FORMAT.md §4). Blocks are compressed by all threads and written in their order, so
 * that the bytes do not depend on the number of threads.
 */
public final class CompressedWriter implements RecordWriter {
  /** Raw bytes that are handed to a thread at once. */
  private static final int GROUP_BYTES = 1 << 18;

  /** A larger record is stored as it is: a ZSTD frame of it would not fit an array beside it. */
  private static final long MAX_COMPRESSED_RECORD = 64L << 20;

  private final DataFiles files;
  private final RecordAddress addresses;
  private final RecordSink sink;
  private final int blockSize;
  private final int level;
  private final int threads;
  private final @Nullable ZstdDictCompress dictionary;
  private final ExecutorService workers;
  private final ConcurrentLinkedQueue<ZstdCompressCtx> contexts = new ConcurrentLinkedQueue<>();
  private final Deque<Pending> pending = new ArrayDeque<>();
  private final byte[] frame = new byte[BlockFrame.MAX];
  private Group group = new Group();
  private int longestFrame;

  private record Pending(Group group, Future<Group> done) {}

  /** A writer of blocks of {@code blockSize} raw bytes at a ZSTD level. */
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
    this.level = level;
    this.threads = threads;
    this.dictionary = dictionary == null ? null : new ZstdDictCompress(dictionary, level);
    this.workers =
        Executors.newFixedThreadPool(
            threads,
            task -> {
              Thread thread = new Thread(task, "bsdb-compress");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** The length of the longest frame of a block that is not a single large record. */
  public int longestFrame() {
    return longestFrame;
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    long length = record.length();
    if (length > MAX_COMPRESSED_RECORD) {
      submit();
      drain(0);
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
    sink.placed(record.high, record.low, addresses.pack(files.current(), position, 0));
  }

  private void submit() throws IOException {
    group.endBlock();
    if (group.records == 0) {
      return;
    }
    Group full = group;
    pending.add(new Pending(full, workers.submit(() -> compress(full))));
    group = new Group();
    drain(2 * threads);
  }

  private Group compress(Group full) {
    ZstdCompressCtx context = contexts.poll();
    if (context == null) {
      context = new ZstdCompressCtx();
      context
          .setLevel(level)
          .setMagicless(true)
          .setContentSize(false)
          .setChecksum(false)
          .setDictID(false);
      if (dictionary != null) {
        context.loadDict(dictionary);
      }
    }
    full.compress(context);
    contexts.add(context);
    return full;
  }

  private void drain(int most) throws IOException {
    while (pending.size() > most) {
      try {
        write(pending.remove().done.get());
      } catch (ExecutionException e) {
        throw new IOException("compression failed: " + e.getCause(), e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while compressing");
      }
    }
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
            done.signatures[2 * record],
            done.signatures[2 * record + 1],
            addresses.pack(files.current(), position, done.offsets[record] - rawStart));
      }
    }
  }

  @Override
  public void finish() throws IOException {
    submit();
    drain(0);
  }

  /** Ends the threads and frees what they used. */
  @Override
  public void close() {
    workers.shutdownNow();
    boolean interrupted = false;
    boolean ended = false;
    while (!ended) { // freeing what a thread still compresses with would crash the process
      try {
        ended = workers.awaitTermination(1, TimeUnit.MINUTES);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    for (ZstdCompressCtx context = contexts.poll(); context != null; context = contexts.poll()) {
      context.close();
    }
    if (dictionary != null) {
      dictionary.close();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Raw records of consecutive blocks, and in the end their frames. */
  private static final class Group {
    private byte[] raw = new byte[GROUP_BYTES + (GROUP_BYTES >> 2)];
    private int used;
    private int[] starts = new int[64];
    private int blocks;
    private long[] signatures = new long[512];
    private int[] offsets = new int[256];
    private int records;
    private final List<byte @Nullable []> frames = new ArrayList<>();

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

    void compress(ZstdCompressCtx context) {
      for (int block = 0; block < blocks; block++) {
        byte[] compressed =
            context.compress(Arrays.copyOfRange(raw, starts[block], starts[block + 1]));
        frames.add(compressed.length < starts[block + 1] - starts[block] ? compressed : null);
      }
    }
  }
}
