package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import tech.bsdb.io.SequentialFile;

/**
 * Spills signatures to one temporary file until all are known. The entries of each partition (the
 * top bits of the signature) form a chain of chunks, so that a partition can be read back
 * separately. Uses one file descriptor and 10 MiB of memory, regardless of the number of records.
 *
 * <p>An entry is a 16-byte signature and a fixed-width payload. One thread adds; after {@link
 * #seal}, any number may read.
 */
public final class SignatureSpill implements Closeable {
  /** log2 of the number of partitions. */
  public static final int PARTITION_BITS = 10;

  /** Number of partitions. */
  public static final int PARTITIONS = 1 << PARTITION_BITS;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int CHUNK_TARGET = 10_000;
  private static final long NONE = -1;

  /** Standard deviations by which no partition exceeds the average. */
  private static final int DEVIATIONS = 6;

  private final SequentialFile file;
  private final int entryBytes;
  private final int perChunk;
  private final int chunkBytes;
  private final byte[][] open = new byte[PARTITIONS][];
  private final int[] inOpen = new int[PARTITIONS];
  private final long[] lastChunk = new long[PARTITIONS];
  private final long[] counts = new long[PARTITIONS];
  private final byte[] link = new byte[Long.BYTES];
  private long written;
  private long total;

  /** Creates a spill file whose entries have a payload of {@code payloadBytes} bytes. */
  public SignatureSpill(Path path, int payloadBytes) throws IOException {
    this.entryBytes = 2 * Long.BYTES + payloadBytes;
    this.perChunk = Math.max(1, CHUNK_TARGET / entryBytes);
    this.chunkBytes = perChunk * entryBytes;
    this.file = new SequentialFile(path);
    Arrays.fill(lastChunk, NONE);
  }

  /**
   * The size of the file to expect at most. What does not fill a chunk stays in memory, so a
   * partition of fewer signatures than a chunk holds takes nothing.
   *
   * @param records the number of entries, with random signatures
   * @param payloadBytes bytes of their payload
   */
  static long mostBytes(long records, int payloadBytes) {
    long entryBytes = 2L * Long.BYTES + payloadBytes;
    long perChunk = Math.max(1, CHUNK_TARGET / entryBytes);
    double average = (double) records / PARTITIONS;
    double largest = average + DEVIATIONS * Math.sqrt(average);
    long fullest = (long) (largest / perChunk);
    long chunks = Math.min(fullest * PARTITIONS, records / perChunk);
    return chunks * (Long.BYTES + perChunk * entryBytes);
  }

  /** Memory of the chunks that are not full yet, at most. */
  static long openBytes(long records, int payloadBytes) {
    return Math.min(records, PARTITIONS) * CHUNK_TARGET;
  }

  /** The partition of a signature. */
  public static int partition(long high) {
    return (int) (high >>> Long.SIZE - PARTITION_BITS);
  }

  /** The least first half of a signature in a partition, or 0 after the last partition. */
  static long firstHigh(int partition) {
    return (long) partition << Long.SIZE - PARTITION_BITS;
  }

  /** Adds an entry whose payload is an address. */
  public void add(long high, long low, long address) throws IOException {
    begin(high, low, address);
  }

  /**
   * Adds an entry whose payload is an address, the length of a value in one byte, and the value.
   */
  public void add(long high, long low, long address, byte[] value, int valueFrom, int valueLength)
      throws IOException {
    int at = begin(high, low, address);
    byte[] chunk = open[partition(high)];
    chunk[at] = (byte) valueLength;
    System.arraycopy(value, valueFrom, chunk, at + 1, valueLength);
    Arrays.fill(chunk, at + 1 + valueLength, at + entryBytes - 3 * Long.BYTES, (byte) 0);
  }

  private int begin(long high, long low, long address) throws IOException {
    int partition = partition(high);
    byte[] chunk = open[partition];
    if (chunk == null) {
      chunk = new byte[chunkBytes];
      open[partition] = chunk;
    } else if (inOpen[partition] == perChunk) {
      flush(partition);
    }
    int at = inOpen[partition]++ * entryBytes;
    counts[partition]++;
    total++;
    LONGS.set(chunk, at, high);
    LONGS.set(chunk, at + 8, low);
    LONGS.set(chunk, at + 16, address);
    return at + 24;
  }

  private void flush(int partition) throws IOException {
    LONGS.set(link, 0, lastChunk[partition]);
    lastChunk[partition] = written;
    file.write(link, 0, link.length);
    file.write(open[partition], 0, chunkBytes);
    written += link.length + chunkBytes;
    inOpen[partition] = 0;
  }

  /** Flushes the file; no entry may be added afterwards. */
  public void seal() throws IOException {
    file.flush();
  }

  /** The total number of entries. */
  public long total() {
    return total;
  }

  /** The number of entries in a partition. */
  long count(int partition) {
    return counts[partition];
  }

  /** Bytes per entry. */
  int entryBytes() {
    return entryBytes;
  }

  /** Receives entries stored back to back in a chunk. */
  @FunctionalInterface
  interface EntryChunks {
    void take(byte[] chunk, int entries) throws IOException;
  }

  /** Passes all entries of a partition to a receiver, in no particular order. */
  void read(int partition, EntryChunks receiver) throws IOException {
    byte[] last = open[partition];
    if (last != null && inOpen[partition] > 0) {
      receiver.take(last, inOpen[partition]);
    }
    byte[] chunk = new byte[Long.BYTES + chunkBytes];
    byte[] entries = new byte[chunkBytes];
    long chunks = (counts[partition] - inOpen[partition]) / perChunk;
    long at = lastChunk[partition];
    for (long i = 0; i < chunks; i++) {
      if (at < 0 || at > written - chunk.length || at % chunk.length != 0) {
        throw damaged(at);
      }
      file.read(chunk, 0, chunk.length, at);
      System.arraycopy(chunk, Long.BYTES, entries, 0, chunkBytes);
      receiver.take(entries, perChunk);
      at = (long) LONGS.get(chunk, 0);
    }
    if (at != NONE) {
      throw damaged(at);
    }
  }

  private IOException damaged(long at) {
    return new IOException(
        file.path() + ": the temporary file was damaged during the build (a chunk at " + at + ")");
  }

  @Override
  public void close() throws IOException {
    file.close();
    Files.deleteIfExists(file.path());
  }
}
