package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Spills signatures to one temporary file until all are known, in partitions by their top bits.
 * Uses one file descriptor and 10 MiB of memory, regardless of the number of records.
 *
 * <p>An entry is a 16-byte signature and a fixed-width payload, which begins with an address. One
 * thread adds; after {@link #seal}, any number may read.
 */
public final class SignatureSpill implements Closeable {
  /** log2 of the number of partitions. */
  public static final int PARTITION_BITS = 10;

  /** Number of partitions. */
  public static final int PARTITIONS = 1 << PARTITION_BITS;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int CHUNK = 10_000;

  private final Spill spill;
  private final Spill.Writer writer;
  private final int entryBytes;
  private long total;

  /** Creates a spill file whose entries have a payload of {@code payloadBytes} bytes. */
  public SignatureSpill(Path path, int payloadBytes) throws IOException {
    this.spill = new Spill(path, PARTITIONS, CHUNK);
    this.writer = spill.onlyWriter();
    this.entryBytes = 2 * Long.BYTES + payloadBytes;
  }

  /**
   * The size of the file to expect at most. What does not fill a chunk stays in memory, so a
   * partition of fewer signatures than a chunk holds takes nothing.
   *
   * @param records the number of entries, with random signatures
   * @param payloadBytes bytes of their payload
   */
  static long mostBytes(long records, int payloadBytes) {
    return Spill.mostBytes(records, 2L * Long.BYTES + payloadBytes, PARTITIONS, CHUNK);
  }

  /** Memory of the chunks that are not full yet, at most. */
  static long openBytes(long records) {
    return Math.min(records, PARTITIONS) * CHUNK;
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
    int partition = partition(high);
    byte[] chunk = writer.room(partition, entryBytes);
    put(chunk, writer.end(partition), high, low, address);
    added(partition);
  }

  /**
   * Adds an entry whose payload is an address, the length of a value in one byte, and the value.
   */
  public void add(long high, long low, long address, byte[] value, int valueFrom, int valueLength)
      throws IOException {
    int partition = partition(high);
    byte[] chunk = writer.room(partition, entryBytes);
    int end = writer.end(partition) + entryBytes;
    int at = put(chunk, writer.end(partition), high, low, address);
    chunk[at++] = (byte) valueLength;
    System.arraycopy(value, valueFrom, chunk, at, valueLength);
    Arrays.fill(chunk, at + valueLength, end, (byte) 0);
    added(partition);
  }

  private static int put(byte[] chunk, int at, long high, long low, long address) {
    LONGS.set(chunk, at, high);
    LONGS.set(chunk, at + Long.BYTES, low);
    LONGS.set(chunk, at + 2 * Long.BYTES, address);
    return at + 3 * Long.BYTES;
  }

  private void added(int partition) throws IOException {
    writer.added(partition, writer.end(partition) + entryBytes);
    total++;
  }

  /** Flushes the file; no entry may be added afterwards. */
  public void seal() throws IOException {
    spill.seal();
  }

  /** The total number of entries. */
  public long total() {
    return total;
  }

  /** The number of entries in a partition. */
  long count(int partition) {
    return spill.count(partition);
  }

  /** Bytes per entry. */
  int entryBytes() {
    return entryBytes;
  }

  /** Passes all entries of a partition to a receiver, in the order in which they were added. */
  void read(int partition, Spill.Chunks receiver) throws IOException {
    spill.read(partition, receiver);
  }

  @Override
  public void close() throws IOException {
    spill.close();
  }
}
