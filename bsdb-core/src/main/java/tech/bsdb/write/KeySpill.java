package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Keys in a temporary file, divided into partitions whose keys are all less than those of the next.
 * Any number of threads write, each through a writer of its own.
 */
final class KeySpill implements Closeable {
  private final KeySplitters splitters;
  private final Spill spill;
  private final Queue<KeyWriter> idle = new ConcurrentLinkedQueue<>();

  /**
   * Creates the file.
   *
   * @param chunkBytes bytes of a partition that a writer collects
   */
  KeySpill(Path file, KeySplitters splitters, int chunkBytes) throws IOException {
    this.splitters = splitters;
    this.spill = new Spill(file, splitters.partitions(), chunkBytes);
  }

  /**
   * Divides keys, by splitters that are chosen from them.
   *
   * @param count the number of keys
   * @param bytes bytes of their entries
   * @param need the memory that they need, with others that will be added
   */
  static KeySpill of(
      Path file, KeyEntries.Source keys, long count, long bytes, OrderLimits limits, long need)
      throws IOException {
    KeySplitters splitters = KeySplitters.of(keys, count, bytes, limits.partitions(need));
    int chunkBytes = limits.chunkBytes(need, splitters.partitions());
    KeySpill spill = new KeySpill(file, splitters, chunkBytes);
    try (KeyWriter writer = spill.writer()) {
      keys.each(writer::add);
      return spill;
    } catch (IOException | RuntimeException | Error e) {
      spill.close();
      throw e;
    }
  }

  /** Whether a partition can only hold one key. */
  boolean isOfOneKey(int partition) {
    return splitters.isOfOneKey(partition);
  }

  /** Returns a writer, which no other thread uses before it is closed. */
  KeyWriter writer() {
    KeyWriter free = idle.poll();
    return free == null ? new KeyWriter() : free;
  }

  /** Adds keys. */
  final class KeyWriter implements AutoCloseable {
    private final Spill.Writer writer = spill.new Writer();

    private KeyWriter() {}

    /** Adds a key. */
    void add(byte[] key) throws IOException {
      add(key, 0, key.length);
    }

    /** Adds a key, which is part of an array. */
    void add(byte[] bytes, int from, int to) throws IOException {
      int partition = splitters.partition(bytes, from, to);
      byte[] room = writer.room(partition, KeyEntries.HEAD + to - from);
      int end = KeyEntries.put(room, writer.end(partition), bytes, from, to - from);
      writer.added(partition, end);
    }

    /** Gives the writer back, for the next one who asks for one. */
    @Override
    public void close() {
      idle.add(this);
    }
  }

  /** The {@linkplain KeyEntries entries} of all keys. */
  Spill spill() {
    return spill;
  }

  /** Returns the entries of all keys, once all writers are closed. */
  Spill finish() throws IOException {
    for (KeyWriter each : idle) {
      each.writer.finish();
    }
    idle.clear();
    spill.seal();
    return spill;
  }

  /** Closes and deletes the file. */
  @Override
  public void close() throws IOException {
    spill.close();
  }
}
