package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Resources;
import tech.bsdb.io.SequentialFile;

/**
 * Entries in temporary files, by partition, until all are known. An entry is a sequence of bytes,
 * of which only those who add and read it know the meaning. Files hold consecutive partitions, so
 * that each can be deleted once its partitions are done. Uses a file descriptor and 256 KiB of
 * memory for each file, and for each writer that of a chunk for each partition, regardless of the
 * number of entries.
 *
 * <p>Any number of threads add entries, each through a writer of its own; after {@link #seal}, any
 * number read. Damage to the files is found when they are read.
 *
 * <pre>
 * chunk     offset  size  meaning
 *                0     8  position of the last chunk of the same partition in the file; -1 for none
 *                8     4  its length
 *               12     4  CRC32C of the 12 bytes before and of the entries
 *               16        entries, at least one
 * </pre>
 *
 * An entry lies in one chunk. It ends the chunk in which it has no room, however full that is, and
 * has its own if it is longer than a chunk.
 */
final class Spill implements Closeable {
  /** Bytes of a chunk before its entries. */
  static final int HEAD = Long.BYTES + 2 * Integer.BYTES;

  /** The most files over which partitions are spread evenly. */
  static final int EVEN_FILES = 16;

  /** Where the checksum is in the head of a chunk, behind the link to the last one. */
  private static final int CHECKSUM = Long.BYTES + Integer.BYTES;

  /** Bits of a position among the files; the number of the file lies above them. */
  private static final int POSITION_BITS = 56;

  private static final long NONE = -1;

  /** Standard deviations by which no partition exceeds the average. */
  private static final int DEVIATIONS = 6;

  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final List<Path> paths;
  private final int[] fileOf;
  private final int chunkBytes;
  private final @Nullable SequentialFile[] files;
  private final long[] written;
  private final boolean[] dropped;
  private final long[] lastChunk;
  private final int[] lastLength;
  private final long[] chunks;
  private final long[] counts;
  private final long[] bytes;
  private final CRC32C crc = new CRC32C();
  private int longest;

  /** The only writer, whose open chunks stay in memory; null if there are several. */
  private @Nullable Writer only;

  /**
   * The size to expect at most of the chunks in the files. What does not fill a chunk stays in
   * memory.
   *
   * @param records the number of entries, of equal length, which are spread at random
   */
  static long mostBytes(long records, long entryBytes, int partitions, int chunkBytes) {
    long anywhere = mostBytes(records, entryBytes, chunkBytes);
    long fitting = fitting(entryBytes, chunkBytes);
    if (fitting == 0) {
      return anywhere;
    }
    double average = (double) records / partitions;
    long fullest = (long) ((average + DEVIATIONS * Math.sqrt(average)) / fitting);
    return Math.min(anywhere, fullest * partitions * (HEAD + fitting * entryBytes));
  }

  /** The same, if the entries may be in any partitions. */
  static long mostBytes(long records, long entryBytes, int chunkBytes) {
    long fitting = fitting(entryBytes, chunkBytes);
    return fitting == 0
        ? records * (HEAD + entryBytes)
        : records / fitting * (HEAD + fitting * entryBytes);
  }

  private static long fitting(long entryBytes, int chunkBytes) {
    return (chunkBytes - HEAD) / entryBytes;
  }

  /**
   * Creates a spill with one file.
   *
   * @param partitions the number of partitions
   * @param chunkBytes bytes of a chunk, except for longer entries
   */
  Spill(Path file, int partitions, int chunkBytes) throws IOException {
    this(List.of(file), new int[partitions], chunkBytes);
    files[0] = new SequentialFile(file);
  }

  /**
   * Creates a spill, whose files are created in a directory when they are needed.
   *
   * @param name the first part of the files' names
   * @param fileOf the number of the file of each partition, in ascending order from 0 on
   */
  Spill(Path directory, String name, int[] fileOf, int chunkBytes) {
    this(
        IntStream.rangeClosed(0, fileOf[fileOf.length - 1])
            .mapToObj(number -> directory.resolve(name + "-" + number + ".part"))
            .toList(),
        fileOf,
        chunkBytes);
  }

  private Spill(List<Path> paths, int[] fileOf, int chunkBytes) {
    int partitions = fileOf.length;
    this.paths = paths;
    this.fileOf = fileOf;
    this.chunkBytes = chunkBytes;
    this.files = new SequentialFile[paths.size()];
    this.written = new long[paths.size()];
    this.dropped = new boolean[partitions];
    this.lastChunk = new long[partitions];
    this.lastLength = new int[partitions];
    this.chunks = new long[partitions];
    this.counts = new long[partitions];
    this.bytes = new long[partitions];
    Arrays.fill(lastChunk, NONE);
  }

  /** Creates a spill in a directory, whose partitions are spread evenly over files that it has. */
  static Spill evenly(Path directory, String name, int partitions, int chunkBytes)
      throws IOException {
    int files = Math.min(EVEN_FILES, partitions);
    int[] fileOf = new int[partitions];
    Arrays.setAll(fileOf, partition -> (int) ((long) partition * files / partitions));
    Spill spill = new Spill(directory, name, fileOf, chunkBytes);
    try {
      for (int i = 0; i < files; i++) {
        spill.created(i);
      }
    } catch (IOException | RuntimeException | Error e) {
      Resources created = new Resources();
      created.add(spill);
      created.closeAfter(e);
      throw e;
    }
    return spill;
  }

  /** Returns the only writer. Its open chunks stay in memory, where they are read. */
  Writer onlyWriter() {
    Writer writer = new Writer();
    only = writer;
    return writer;
  }

  /** Adds entries. Used by one thread at a time. */
  final class Writer {
    private final byte[][] open = new byte[fileOf.length][];
    private final int[] used = new int[fileOf.length];
    private final int[] entries = new int[fileOf.length];

    /**
     * Makes room for an entry.
     *
     * @return an array in which so many bytes can be put, from {@link #end} on
     */
    byte[] room(int partition, int length) throws IOException {
      byte[] chunk = open[partition];
      if (chunk != null && chunk.length - used[partition] >= length) {
        return chunk;
      }
      flush(partition);
      if (chunk == null || chunk.length - HEAD < length) {
        chunk = new byte[Math.max(chunkBytes, HEAD + length)];
        open[partition] = chunk;
      }
      used[partition] = HEAD;
      return chunk;
    }

    /** Where the next entry of a partition starts, for which there is room. */
    int end(int partition) {
      return used[partition];
    }

    /** Adds the entry that was put there. */
    void added(int partition, int end) throws IOException {
      used[partition] = end;
      entries[partition]++;
      if (end > chunkBytes) { // its own chunk, for which memory was not planned
        flush(partition);
        open[partition] = null;
      }
    }

    private void flush(int partition) throws IOException {
      byte[] chunk = open[partition];
      if (chunk != null && used[partition] > HEAD) {
        append(partition, chunk, used[partition], entries[partition]);
        used[partition] = HEAD;
        entries[partition] = 0;
      }
    }

    /** Writes all chunks; no entry may be added afterwards. The only writer need not. */
    void finish() throws IOException {
      for (int i = 0; i < open.length; i++) {
        flush(i);
        open[i] = null;
      }
    }
  }

  /** Appends a chunk, whose head is still empty. */
  private synchronized void append(int partition, byte[] chunk, int length, int entries)
      throws IOException {
    LONGS.set(chunk, 0, lastChunk[partition]);
    INTS.set(chunk, Long.BYTES, lastLength[partition]);
    INTS.set(chunk, CHECKSUM, checksum(crc, chunk, length));
    lastChunk[partition] = write(fileOf[partition], chunk, 0, length);
    lastLength[partition] = length;
    longest = Math.max(longest, length);
    chunks[partition]++;
    counts[partition] += entries;
    bytes[partition] += length - HEAD;
  }

  /**
   * Writes bytes of an entry aside, between the chunks of its partition.
   *
   * @return their place, for {@link #readAside}
   */
  synchronized long putAside(int partition, byte[] from, int start, int length) throws IOException {
    int file = fileOf[partition];
    return (long) file << POSITION_BITS | write(file, from, start, length);
  }

  /** Appends bytes to a file; returns where they start. */
  private long write(int number, byte[] from, int start, int length) throws IOException {
    long position = written[number];
    created(number).write(from, start, length);
    written[number] = position + length;
    return position;
  }

  private SequentialFile created(int number) throws IOException {
    SequentialFile file = files[number];
    if (file == null) {
      file = new SequentialFile(paths.get(number));
      files[number] = file;
    }
    return file;
  }

  private static int checksum(CRC32C crc, byte[] chunk, int length) {
    crc.reset();
    crc.update(chunk, 0, CHECKSUM);
    crc.update(chunk, HEAD, length - HEAD);
    return (int) crc.getValue();
  }

  /** Flushes the files; no entry may be added afterwards. */
  synchronized void seal() throws IOException {
    for (SequentialFile file : files) {
      if (file != null) {
        file.flush();
      }
    }
  }

  /** The number of partitions. */
  int partitions() {
    return fileOf.length;
  }

  /** The number of entries of a partition: all, if there is only one writer or all finished. */
  long count(int partition) {
    return only == null ? counts[partition] : counts[partition] + only.entries[partition];
  }

  /** Bytes of these entries, without what was put aside. */
  long bytes(int partition) {
    return only == null
        ? bytes[partition]
        : bytes[partition] + Math.max(0, only.used[partition] - HEAD);
  }

  /** Receives entries. */
  @FunctionalInterface
  interface Chunks {
    /**
     * Receives entries that lie one after the other in a part of an array.
     *
     * @param bytes is valid until the call returns
     */
    void take(byte[] bytes, int from, int to) throws IOException;
  }

  /** Passes all entries of a partition on, those of each writer in the order of adding. */
  void read(int partition, Chunks receiver) throws IOException {
    if (dropped[partition]) {
      throw new IllegalStateException("partition " + partition + " was dropped");
    }
    int number = fileOf[partition];
    long[] starts = new long[Math.toIntExact(chunks[partition])];
    int[] lengths = new int[starts.length];
    byte[] link = new byte[CHECKSUM];
    long start = lastChunk[partition];
    int length = lastLength[partition];
    int room = 0;
    long left = bytes[partition];
    for (int i = starts.length - 1; i >= 0; i--) {
      if (length <= HEAD || length > longest || start < 0 || start > written[number] - length) {
        throw damaged(number, start);
      }
      starts[i] = start;
      lengths[i] = length;
      room = Math.max(room, length);
      left -= length - HEAD;
      file(number).read(link, 0, link.length, start);
      start = (long) LONGS.get(link, 0);
      length = (int) INTS.get(link, Long.BYTES);
    }
    if (start != NONE || left != 0) {
      throw damaged(number, start);
    }
    byte[] chunk = new byte[room];
    CRC32C read = new CRC32C();
    for (int i = 0; i < starts.length; i++) {
      file(number).read(chunk, 0, lengths[i], starts[i]);
      if (checksum(read, chunk, lengths[i]) != (int) INTS.get(chunk, CHECKSUM)) {
        throw damaged(number, starts[i]);
      }
      receiver.take(chunk, HEAD, lengths[i]);
    }
    if (only != null && only.used[partition] > HEAD) {
      receiver.take(only.open[partition], HEAD, only.used[partition]);
    }
  }

  private SequentialFile file(int number) {
    SequentialFile file = files[number];
    if (file == null) {
      throw new IllegalStateException("the file " + paths.get(number) + " was deleted");
    }
    return file;
  }

  /** Receives parts of what was put aside. */
  @FunctionalInterface
  interface Parts {
    void take(byte[] part, int length) throws IOException;
  }

  /**
   * Reads bytes that were put aside.
   *
   * @param checksum their CRC32C
   * @param part receives each part
   */
  void readAside(long place, int length, int checksum, byte[] part, Parts receiver)
      throws IOException {
    int number = (int) (place >>> POSITION_BITS);
    long position = place & (1L << POSITION_BITS) - 1;
    SequentialFile file = file(number);
    CRC32C read = new CRC32C();
    for (int done = 0; done < length; ) {
      int next = Math.min(length - done, part.length);
      file.read(part, 0, next, position + done);
      read.update(part, 0, next);
      receiver.take(part, next);
      done += next;
    }
    if ((int) read.getValue() != checksum) {
      throw damaged(number, position);
    }
  }

  private IOException damaged(int number, long at) {
    return new IOException(
        paths.get(number)
            + ": the temporary file was damaged during the build (a chunk at "
            + at
            + ")");
  }

  /** Frees the memory of a partition, and deletes its file if no later partition is there. */
  void drop(int partition) throws IOException {
    dropped[partition] = true;
    if (only != null) {
      only.open[partition] = null;
    }
    if (partition + 1 == fileOf.length || fileOf[partition + 1] > fileOf[partition]) {
      delete(fileOf[partition]);
    }
  }

  private void delete(int number) throws IOException {
    SequentialFile file = files[number];
    if (file != null) {
      files[number] = null;
      try {
        file.close();
      } finally {
        Files.deleteIfExists(file.path());
      }
    }
  }

  /** Closes and deletes the files. */
  @Override
  public void close() throws IOException {
    try (Resources all = new Resources()) {
      for (int i = 0; i < files.length; i++) {
        int number = i;
        all.add(() -> delete(number));
      }
    }
  }
}
