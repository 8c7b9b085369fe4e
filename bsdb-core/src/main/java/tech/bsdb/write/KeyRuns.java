package tech.bsdb.write;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import tech.bsdb.order.OrderWriter;

/** Sorted runs of keys in a temporary file, merged into one sequence. Not thread-safe. */
final class KeyRuns implements Closeable {
  private static final int LEAST_READ = 1 << 16;
  private static final int MOST_READ = 1 << 20;

  /** Receives keys in ascending order. */
  @FunctionalInterface
  interface Sink {
    /**
     * Receives a key, which is part of an array.
     *
     * @param sharedWithLast bytes that it has in common with the last key, or {@link
     *     OrderWriter#UNKNOWN}
     */
    void add(byte[] bytes, int from, int to, int sharedWithLast) throws IOException;
  }

  /**
   * Where a run lies in the file.
   *
   * @param prefix bytes that all its keys begin with; others may, too
   */
  record Run(long start, long length, byte[] prefix) {}

  private final Path path;
  private final FileChannel channel;
  private long end;
  private byte[] buffer = new byte[0];

  /** Creates the file in a directory for temporary files. */
  KeyRuns(Path directory) throws IOException {
    this.path = directory.resolve("keys.part");
    this.channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** Writes a sorted run. */
  Run write(KeyRun run) throws IOException {
    int length = run.end();
    long start = end;
    end += length;
    byte[] sorted = run.sorted(buffer);
    buffer = sorted;
    ByteBuffer from = ByteBuffer.wrap(sorted, 0, length);
    while (from.hasRemaining()) {
      channel.write(from, start + from.position());
    }
    return new Run(start, length, run.prefix());
  }

  /**
   * Merges runs.
   *
   * @param memoryBytes the memory limit of all buffers; each run takes at least 64 KiB
   */
  void merge(List<Run> runs, long memoryBytes, Sink sink) throws IOException {
    int room =
        (int) Math.max(LEAST_READ, Math.min(MOST_READ, memoryBytes / Math.max(1, runs.size())));
    int common = common(runs);
    Reader[] heap = new Reader[runs.size()];
    int heads = 0;
    for (int i = 0; i < heap.length; i++) {
      Reader reader = new Reader(runs.get(i), room, common);
      if (reader.next()) {
        heap[heads++] = reader;
      }
    }
    for (int i = heads / 2 - 1; i >= 0; i--) {
      sink(heap, heads, i);
    }
    while (heads > 0) {
      Reader least = heap[0];
      sink.add(least.bytes, least.from, least.to, OrderWriter.UNKNOWN);
      if (!least.next()) {
        heap[0] = heap[--heads];
      }
      sink(heap, heads, 0);
    }
  }

  /** The number of bytes that all keys begin with. */
  private static int common(List<Run> runs) {
    int common = runs.isEmpty() ? 0 : runs.get(0).prefix.length;
    for (Run run : runs) {
      int mismatch =
          Arrays.mismatch(runs.get(0).prefix, 0, common, run.prefix, 0, run.prefix.length);
      common = mismatch < 0 ? common : mismatch;
    }
    return common;
  }

  /** Moves the reader at a place of a heap down to where it belongs. */
  private static void sink(Reader[] heap, int size, int from) {
    int place = from;
    Reader sunk = heap[from];
    for (int child = 2 * place + 1; child < size; child = 2 * place + 1) {
      if (child + 1 < size && heap[child + 1].isBefore(heap[child])) {
        child++;
      }
      if (!heap[child].isBefore(sunk)) {
        break;
      }
      heap[place] = heap[child];
      place = child;
    }
    heap[place] = sunk;
  }

  /** Reads a run from front to back. */
  private final class Reader {
    private final int common;
    private final long end;
    private long at;
    private byte[] bytes;
    private int filled;

    /** The current key, and behind it the next entry. */
    private int from;

    private int to;

    /** The first bytes of the key after those that all keys have in common. */
    private long word;

    Reader(Run run, int room, int common) {
      this.common = common;
      this.at = run.start;
      this.end = run.start + run.length;
      this.bytes = new byte[(int) Math.min(run.length, room) + Long.BYTES];
    }

    boolean next() throws IOException {
      if (filled - to < KeyEntries.HEAD && !fill(KeyEntries.HEAD)) {
        return false;
      }
      int length = KeyEntries.length(bytes, to);
      if (filled - to < KeyEntries.HEAD + length) {
        fill(KeyEntries.HEAD + length);
      }
      from = to + KeyEntries.HEAD;
      to = from + length;
      word = KeyRun.word(bytes, from + common, to);
      return true;
    }

    /** Reads on, so that at least so many bytes follow; false at the end of the run. */
    private boolean fill(int needed) throws IOException {
      int left = filled - to;
      if (left == 0 && at == end) {
        return false;
      }
      byte[] target =
          bytes.length < needed + Long.BYTES ? new byte[2 * needed + Long.BYTES] : bytes;
      System.arraycopy(bytes, to, target, 0, left);
      bytes = target;
      filled = left;
      to = 0;
      int wanted = (int) Math.min(bytes.length - Long.BYTES - filled, end - at);
      ByteBuffer into = ByteBuffer.wrap(bytes, filled, wanted);
      while (into.hasRemaining()) {
        int read = channel.read(into, at + into.position() - filled);
        if (read < 0) {
          throw new EOFException(path + ": ends before byte " + end);
        }
      }
      at += wanted;
      filled += wanted;
      if (filled < needed) {
        throw new EOFException(path + ": a run ends within a key");
      }
      return true;
    }

    boolean isBefore(Reader other) {
      if (word != other.word) {
        return Long.compareUnsigned(word, other.word) < 0;
      }
      return Arrays.compareUnsigned(bytes, from, to, other.bytes, other.from, other.to) < 0;
    }
  }

  /** Closes and deletes the file. */
  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      Files.deleteIfExists(path);
    }
  }
}
