package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Keys in a temporary file, divided into partitions whose keys are all less than those of the next.
 * Any number of threads write, each through a writer of its own.
 */
final class KeySpill implements KeySorter.Divided<KeySpill> {
  private final Path file;
  private final SortLimits limits;
  private final KeySplitters splitters;
  private final Spill spill;
  private int divisions;
  private final Queue<KeyWriter> idle = new ConcurrentLinkedQueue<>();

  /**
   * Creates the file.
   *
   * @param chunkBytes bytes of a partition that a writer collects
   */
  KeySpill(Path file, SortLimits limits, KeySplitters splitters, int chunkBytes)
      throws IOException {
    this.file = file;
    this.limits = limits;
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
      Path file, KeyEntries.Source keys, long count, long bytes, SortLimits limits, long need)
      throws IOException {
    KeySplitters splitters = KeySplitters.of(keys, count, bytes, limits.keyPartitions(need));
    int chunkBytes = limits.keyChunkBytes(need, splitters.partitions());
    KeySpill spill = new KeySpill(file, limits, splitters, chunkBytes);
    try (KeyWriter writer = spill.writer()) {
      keys.each(writer::add);
      return spill;
    } catch (IOException | RuntimeException | Error e) {
      spill.close();
      throw e;
    }
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

  /** Writes what the writers hold, once all are closed. */
  @Override
  public void finish() throws IOException {
    for (KeyWriter each : idle) {
      each.writer.finish();
    }
    idle.clear();
    spill.seal();
  }

  @Override
  public int partitions() {
    return spill.partitions();
  }

  @Override
  public long memory(int partition) {
    return spill.bytes(partition) + KeyRun.OVERHEAD * spill.count(partition);
  }

  @Override
  public KeySpill divide(int partition, KeySorter<KeySpill> sorter) throws IOException {
    if (splitters.isOfOneKey(partition)) {
      throw new IllegalStateException(OrderStage.EQUAL); // would be divided without end
    }
    String name = file.getFileName().toString().replace(".part", "-" + ++divisions + ".part");
    return of(
        file.resolveSibling(name),
        keys -> {
          Spill.Chunks entries = KeyEntries.each(keys);
          spill.read(
              partition,
              (bytes, from, to) -> {
                sorter.checkNotCancelled();
                entries.take(bytes, from, to);
              });
        },
        spill.count(partition),
        spill.bytes(partition),
        limits,
        memory(partition));
  }

  @Override
  public void drop(int partition) throws IOException {
    spill.drop(partition);
  }

  /** Closes and deletes the file. */
  @Override
  public void close() throws IOException {
    spill.close();
  }
}
