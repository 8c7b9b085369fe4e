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

/**
 * Keys in a temporary file, divided into partitions whose keys are all less than those of the next.
 * Any number of threads write, each through a writer of its own; when they have ended, any number
 * read.
 */
final class KeySpill implements Closeable {
  /** Low bits of a chunk's number that hold its length; the others hold where it starts. */
  private static final int LENGTH_BITS = 17;

  /** The largest chunk. A single key with its head may be a chunk, too. */
  static final int MOST_CHUNK = 1 << 16;

  private final Path path;
  private final FileChannel channel;
  private final KeySplitters splitters;
  private final int chunkBytes;
  private final Partition[] partitions;
  private long end;

  /** What is known of a partition. */
  private static final class Partition {
    long[] chunks = new long[4];
    int count;
    long keys;
    long bytes;
  }

  /**
   * Creates the file in a directory for temporary files.
   *
   * @param chunkBytes bytes of a partition that a writer collects, at most {@link #MOST_CHUNK}
   */
  KeySpill(Path directory, KeySplitters splitters, int chunkBytes) throws IOException {
    this.splitters = splitters;
    this.chunkBytes = chunkBytes;
    this.partitions = new Partition[splitters.partitions()];
    Arrays.setAll(partitions, i -> new Partition());
    this.path = directory.resolve("order.part");
    this.channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** The number of partitions. */
  int partitions() {
    return partitions.length;
  }

  /** The number of keys of a partition. */
  long keys(int partition) {
    return partitions[partition].keys;
  }

  /** Bytes of the entries of a partition. */
  long bytes(int partition) {
    return partitions[partition].bytes;
  }

  /** Collects keys. Used by one thread at a time. */
  final class Writer {
    private final byte[][] buffers = new byte[partitions.length][];
    private final int[] used = new int[partitions.length];
    private final int[] keys = new int[partitions.length];

    /** Adds a key. */
    void add(byte[] key) throws IOException {
      add(key, 0, key.length);
    }

    /** Adds a key, which is part of an array. */
    void add(byte[] bytes, int from, int to) throws IOException {
      int number = splitters.partition(bytes, from, to);
      int length = to - from;
      byte[] buffer = buffers[number];
      if (buffer == null) {
        buffer = new byte[chunkBytes];
        buffers[number] = buffer;
      }
      int at = used[number];
      int needed = KeyEntries.HEAD + length;
      if (needed > buffer.length - at) {
        write(number, buffer, at);
        at = 0;
        if (needed > buffer.length) {
          byte[] single = new byte[needed];
          write(number, single, KeyEntries.put(single, 0, bytes, from, length));
          used[number] = 0;
          keys[number]++;
          return;
        }
      }
      used[number] = KeyEntries.put(buffer, at, bytes, from, length);
      keys[number]++;
    }

    /** Writes what is left. No key may be added afterwards. */
    void finish() throws IOException {
      for (int i = 0; i < buffers.length; i++) {
        byte[] buffer = buffers[i];
        if (buffer != null) {
          write(i, buffer, used[i]);
          buffers[i] = null;
        }
        synchronized (KeySpill.this) {
          partitions[i].keys += keys[i];
        }
      }
    }
  }

  private void write(int partition, byte[] bytes, int length) throws IOException {
    if (length == 0) {
      return;
    }
    ByteBuffer from = ByteBuffer.wrap(bytes, 0, length);
    long start = place(partition, length);
    while (from.hasRemaining()) {
      channel.write(from, start + from.position());
    }
  }

  /** Finds room for a chunk; returns where it starts. */
  private synchronized long place(int number, int length) {
    long start = end;
    end += length;
    Partition partition = partitions[number];
    if (partition.count == partition.chunks.length) {
      partition.chunks = Arrays.copyOf(partition.chunks, 2 * partition.count);
    }
    partition.chunks[partition.count++] = start << LENGTH_BITS | length;
    partition.bytes += length;
    return start;
  }

  /** Reads the keys of a partition. Used by one thread at a time. */
  final class Reader {
    private final Partition partition;
    private int next;

    Reader(int partition) {
      this.partition = partitions[partition];
    }

    /** Adds keys to a run until it takes so much memory, or all are read; returns the number. */
    int read(KeyRun run, long mostBytes) throws IOException {
      int before = run.count();
      while (next < partition.count && run.memory() < mostBytes) {
        long chunk = partition.chunks[next++];
        int length = (int) chunk & (1 << LENGTH_BITS) - 1;
        ByteBuffer into = ByteBuffer.wrap(run.room(length), run.end(), length);
        long start = (chunk >>> LENGTH_BITS) - run.end();
        while (into.hasRemaining()) {
          if (channel.read(into, start + into.position()) < 0) {
            throw new EOFException(path + ": ends within a chunk of " + length + " bytes");
          }
        }
        run.added(length);
      }
      return run.count() - before;
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
