package tech.bsdb.write;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.format.RecordFrame;

/**
 * Spills records to temporary files, in partitions, until all are known.
 *
 * <p>An entry is a record's number, as the difference to the one before it in the partition in
 * LEB128, and the framed record. A long value is {@linkplain Spill#putAside put aside} and replaced
 * by its place and its checksum. One thread adds; after {@link #finish}, any number may read.
 */
public final class RecordSpill implements RecordWriter {
  /** log2 of the number of partitions by signatures. */
  public static final int PARTITION_BITS = 10;

  /** Number of partitions by signatures: their top bits. */
  public static final int PARTITIONS = 1 << PARTITION_BITS;

  /** Values of more bytes are long. */
  static final int LONG_VALUE = 1 << 14;

  /** Bytes of a chunk of a partition by signatures. */
  private static final int CHUNK = 1 << 14;

  /** Instead of a long value: its place, and its CRC32C. */
  static final int REFERENCE = Long.BYTES + Integer.BYTES;

  /** Bits of a number in a byte of LEB128. */
  private static final int NUMBER_BITS = 7;

  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Spill spill;
  private final Spill.Writer writer;
  private final long[] lastNumber;
  private final long[] longBytes;
  private final CRC32C crc = new CRC32C();
  private long records;
  private long recordBytes;

  /**
   * The size to expect at most of the chunks in the files. What does not fill a chunk stays in
   * memory.
   *
   * @param records the number of records of equal length, with random signatures
   */
  static long mostBytes(long records, int keyLength, int valueLength) {
    return Spill.mostBytes(records, entryBytes(keyLength, valueLength), PARTITIONS, CHUNK);
  }

  /** The size of the long values in the files. */
  static long longValueBytes(long records, int valueLength) {
    return valueLength > LONG_VALUE ? records * valueLength : 0;
  }

  /** Memory of the chunks that are not full yet, at most. */
  static long openBytes(long records) {
    return Math.min(records, PARTITIONS) * CHUNK;
  }

  /** Bytes of an entry: mostly two for its number, and what is not long of the record. */
  static long entryBytes(int keyLength, int valueLength) {
    return 2L
        + RecordFrame.headerLength(keyLength, valueLength)
        + keyLength
        + (valueLength > LONG_VALUE ? REFERENCE : valueLength);
  }

  /** The number of steps in which the files of {@code units} ranges of partitions are deleted. */
  static int deletions(int units) {
    return Math.min(Spill.EVEN_FILES, units);
  }

  /** Creates the files of a spill by signatures in a directory. */
  public RecordSpill(Path directory) throws IOException {
    this(directory, "records", PARTITIONS, CHUNK);
  }

  /** Creates the files of a spill in a directory. */
  RecordSpill(Path directory, String name, int partitions, int chunkBytes) throws IOException {
    this(Spill.evenly(directory, name, partitions, chunkBytes));
  }

  /** Creates a spill without entries; closes it. */
  RecordSpill(Spill spill) {
    this.spill = spill;
    this.writer = spill.onlyWriter();
    this.lastNumber = new long[spill.partitions()];
    this.longBytes = new long[spill.partitions()];
  }

  /** Adds a record to the partition of its signature. */
  @Override
  public void add(FramedRecord record) throws IOException {
    add((int) (record.high >>> Long.SIZE - PARTITION_BITS), record);
  }

  /** Adds a record to a partition. Its number is that of the records before it. */
  void add(int partition, FramedRecord record) throws IOException {
    add(partition, record, records);
  }

  /**
   * Adds a record to a partition.
   *
   * @param number its number among all records, greater than those before it in the partition
   */
  void add(int partition, FramedRecord record, long number) throws IOException {
    long left = number - lastNumber[partition];
    lastNumber[partition] = number;
    int length = numberLength(left) + record.headLength;
    int valueLength = record.valueLength;
    boolean isLong = valueLength > LONG_VALUE;
    byte[] chunk = writer.room(partition, length + (isLong ? REFERENCE : valueLength));
    int at = writer.end(partition);
    while (left > 0x7F) {
      chunk[at++] = (byte) (left | 0x80);
      left >>>= NUMBER_BITS;
    }
    chunk[at++] = (byte) left;
    if (!isLong && record.isContiguous()) {
      System.arraycopy(record.head, record.headStart, chunk, at, record.headLength + valueLength);
      at += record.headLength + valueLength;
    } else {
      System.arraycopy(record.head, record.headStart, chunk, at, record.headLength);
      at += record.headLength;
      if (isLong) {
        putReference(partition, record, chunk, at);
        at += REFERENCE;
      } else {
        System.arraycopy(record.value, record.valueStart, chunk, at, valueLength);
        at += valueLength;
      }
    }
    writer.added(partition, at);
    records++;
    recordBytes += record.headLength + (long) valueLength;
  }

  private static int numberLength(long number) {
    return (Long.SIZE + NUMBER_BITS - 1 - Long.numberOfLeadingZeros(number | 1)) / NUMBER_BITS;
  }

  private void putReference(int partition, FramedRecord record, byte[] chunk, int at)
      throws IOException {
    LONGS.set(
        chunk, at, spill.putAside(partition, record.value, record.valueStart, record.valueLength));
    crc.reset();
    crc.update(record.value, record.valueStart, record.valueLength);
    INTS.set(chunk, at + Long.BYTES, (int) crc.getValue());
    longBytes[partition] += record.valueLength;
  }

  /** Flushes the files; no record may be added afterwards. */
  @Override
  public void finish() throws IOException {
    spill.seal();
  }

  /** Total number of records. */
  public long records() {
    return records;
  }

  /** Total length of all framed records in bytes. */
  public long recordBytes() {
    return recordBytes;
  }

  /** The number of records in a partition. */
  long count(int partition) {
    return spill.count(partition);
  }

  /** Bytes of the entries of a partition. */
  long bytes(int partition) {
    return spill.bytes(partition);
  }

  /** Bytes of the long values of a partition. */
  long longBytes(int partition) {
    return longBytes[partition];
  }

  /** Receives entries. */
  @FunctionalInterface
  interface Entries {
    /**
     * Receives an entry.
     *
     * @param number the number of the record among all records
     * @param bytes holds the framed record, with the position of a long value instead of the value
     * @param from where the frame starts
     * @param keyFrom where the key starts
     * @param keyLength length of the key
     * @param length length of everything from {@code from} on
     */
    void take(long number, byte[] bytes, int from, int keyFrom, int keyLength, int length)
        throws IOException;
  }

  /** Passes all entries of a partition to a receiver, in the order in which they were added. */
  void read(int partition, Entries receiver) throws IOException {
    spill.read(partition, new Parser(receiver));
  }

  /** Splits bytes into entries. */
  private static final class Parser implements Spill.Chunks {
    private final Entries receiver;
    private long number;

    Parser(Entries receiver) {
      this.receiver = receiver;
    }

    @Override
    public void take(byte[] bytes, int from, int to) throws IOException {
      for (int at = from; at < to; ) {
        long difference = 0;
        int shift = 0;
        while (bytes[at] < 0) {
          difference |= (bytes[at++] & 0x7FL) << shift;
          shift += NUMBER_BITS;
        }
        number += difference | (long) bytes[at++] << shift;
        long header = RecordFrame.header(bytes, at);
        int head = RecordFrame.headerLength(header);
        int keyLength = RecordFrame.keyLength(header);
        int valueLength = RecordFrame.valueLength(header);
        int length = head + keyLength + (valueLength > LONG_VALUE ? REFERENCE : valueLength);
        receiver.take(number, bytes, at, at + head, keyLength, length);
        at += length;
      }
    }
  }

  /**
   * Reads a long value in parts.
   *
   * @param reference holds its place and checksum, from {@code at} on
   * @param part receives each part
   */
  void readLong(byte[] reference, int at, int length, byte[] part, Spill.Parts receiver)
      throws IOException {
    long place = (long) LONGS.get(reference, at);
    int checksum = (int) INTS.get(reference, at + Long.BYTES);
    spill.readAside(place, length, checksum, part, receiver);
  }

  /** Deletes the file of a partition if it is the last partition there. */
  void drop(int partition) throws IOException {
    spill.drop(partition);
  }

  /** Closes and deletes the files. */
  @Override
  public void close() {
    try {
      spill.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
