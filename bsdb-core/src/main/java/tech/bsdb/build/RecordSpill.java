package tech.bsdb.build;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.SequentialFile;

/**
 * Spills records to temporary files, by the top bits of their signatures, until all are known. The
 * records of each partition form a chain of chunks in one of {@link #FILES} files. Files hold
 * consecutive partitions, so that each can be deleted once its partitions are packed. Long values
 * go to a file of their own. Uses 17 file descriptors and 20 MiB of memory, regardless of the
 * number of records.
 *
 * <p>An entry is a record's number, as the difference to the one before it in the partition in
 * LEB128, and the framed record; a long value is replaced by its position in the file of long
 * values and its checksum. Damage to the files is found when they are read. One thread adds; after
 * {@link #finish}, any number may read.
 */
public final class RecordSpill implements RecordWriter {
  /** log2 of the number of partitions. */
  public static final int PARTITION_BITS = 10;

  /** Number of partitions. */
  public static final int PARTITIONS = 1 << PARTITION_BITS;

  /** Values of more bytes are long. */
  static final int LONG_VALUE = 1 << 14;

  /** Number of files with partitions. */
  private static final int FILES = 16;

  private static final int PER_FILE = PARTITIONS / FILES;
  private static final int CHUNK = 1 << 14;

  /** A chunk starts with the position of the one before it and the CRC32C of its content. */
  private static final int CHUNK_HEAD = Long.BYTES + Integer.BYTES;

  private static final int CONTENT = CHUNK - CHUNK_HEAD;

  /** Instead of a long value: its position in the file of long values and its CRC32C. */
  static final int REFERENCE = Long.BYTES + Integer.BYTES;

  private static final long NONE = -1;

  /** Standard deviations by which no partition exceeds the average. */
  private static final int DEVIATIONS = 6;

  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final @Nullable SequentialFile[] files = new SequentialFile[FILES];
  private final long[] written = new long[FILES];
  private final SequentialFile longValues;
  private final byte[][] open = new byte[PARTITIONS][];
  private final int[] used = new int[PARTITIONS];
  private final long[] lastChunk = new long[PARTITIONS];
  private final long[] chunks = new long[PARTITIONS];
  private final long[] counts = new long[PARTITIONS];
  private final long[] elsewhere = new long[PARTITIONS];
  private final long[] lastNumber = new long[PARTITIONS];
  private final byte[] small = new byte[2 * Long.BYTES];
  private final CRC32C crc = new CRC32C();
  private long longBytes;
  private long records;
  private long recordBytes;

  /**
   * The size of the files of partitions to expect at most. What does not fill a chunk stays in
   * memory.
   *
   * @param records the number of records of equal length, with random signatures
   */
  static long mostBytes(long records, int keyLength, int valueLength) {
    long entry = entryBytes(keyLength, valueLength);
    double average = (double) records / PARTITIONS;
    double largest = (average + DEVIATIONS * Math.sqrt(average)) * entry;
    long fullest = (long) (largest / CONTENT);
    long chunks = Math.min(fullest * PARTITIONS, records * entry / CONTENT);
    return chunks * CHUNK;
  }

  /** The size of the file of long values. */
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
    return Math.min(FILES, units);
  }

  /** Creates the files of a spill in a directory. */
  public RecordSpill(Path directory) throws IOException {
    Arrays.fill(lastChunk, NONE);
    longValues = new SequentialFile(directory.resolve("values.part"));
    try {
      for (int i = 0; i < FILES; i++) {
        files[i] = new SequentialFile(directory.resolve("records-" + i + ".part"));
      }
    } catch (IOException | RuntimeException | Error e) {
      try {
        delete();
      } catch (IOException failure) {
        e.addSuppressed(failure);
      }
      throw e;
    }
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    int partition = (int) (record.high >>> Long.SIZE - PARTITION_BITS);
    int length = leb128(records - lastNumber[partition]);
    put(partition, small, 0, length);
    lastNumber[partition] = records;
    put(partition, record.head, record.headStart, record.headLength);
    if (record.valueLength > LONG_VALUE) {
      LONGS.set(small, 0, longBytes);
      crc.reset();
      crc.update(record.value, record.valueStart, record.valueLength);
      INTS.set(small, Long.BYTES, (int) crc.getValue());
      put(partition, small, 0, REFERENCE);
      longValues.write(record.value, record.valueStart, record.valueLength);
      longBytes += record.valueLength;
      elsewhere[partition] += record.valueLength;
    } else {
      put(partition, record.value, record.valueStart, record.valueLength);
    }
    counts[partition]++;
    records++;
    recordBytes += record.headLength + (long) record.valueLength;
  }

  private int leb128(long number) {
    int at = 0;
    long left = number;
    while (left > 0x7F) {
      small[at++] = (byte) (left | 0x80);
      left >>>= 7;
    }
    small[at++] = (byte) left;
    return at;
  }

  private void put(int partition, byte[] bytes, int offset, int length) throws IOException {
    byte[] chunk = open[partition];
    if (chunk == null) {
      chunk = new byte[CHUNK];
      open[partition] = chunk;
      used[partition] = CHUNK_HEAD;
    }
    int from = offset;
    int left = length;
    while (left > 0) {
      int part = Math.min(left, CHUNK - used[partition]);
      System.arraycopy(bytes, from, chunk, used[partition], part);
      used[partition] += part;
      from += part;
      left -= part;
      if (used[partition] == CHUNK) {
        flush(partition);
      }
    }
  }

  private void flush(int partition) throws IOException {
    int number = partition / PER_FILE;
    LONGS.set(open[partition], 0, lastChunk[partition]);
    crc.reset();
    crc.update(open[partition], CHUNK_HEAD, CONTENT);
    INTS.set(open[partition], Long.BYTES, (int) crc.getValue());
    lastChunk[partition] = written[number];
    file(number).write(open[partition], 0, CHUNK);
    written[number] += CHUNK;
    chunks[partition]++;
    used[partition] = CHUNK_HEAD;
  }

  private SequentialFile file(int number) {
    SequentialFile file = files[number];
    if (file == null) {
      throw new IllegalStateException("the partitions of file " + number + " were dropped");
    }
    return file;
  }

  /** Flushes the files; no record may be added afterwards. */
  @Override
  public void finish() throws IOException {
    for (int i = 0; i < FILES; i++) {
      file(i).flush();
    }
    longValues.flush();
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
    return counts[partition];
  }

  /** Bytes of the entries of a partition. */
  long bytes(int partition) {
    return chunks[partition] * CONTENT + Math.max(0, used[partition] - CHUNK_HEAD);
  }

  /** Bytes of the long values of a partition. */
  long longBytes(int partition) {
    return elsewhere[partition];
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
    long[] offsets = new long[Math.toIntExact(chunks[partition])];
    byte[] link = new byte[Long.BYTES];
    SequentialFile file = file(partition / PER_FILE);
    long at = lastChunk[partition];
    for (int i = offsets.length - 1; i >= 0; i--) {
      if (at < 0 || at > written[partition / PER_FILE] - CHUNK || at % CHUNK != 0) {
        throw damaged(file, at);
      }
      offsets[i] = at;
      file.read(link, 0, link.length, at);
      at = (long) LONGS.get(link, 0);
    }
    if (at != NONE) {
      throw damaged(file, at);
    }
    Parser parser = new Parser(receiver, (int) Math.min(8 * CHUNK, bytes(partition)));
    CRC32C read = new CRC32C();
    byte[] head = new byte[CHUNK_HEAD];
    for (long offset : offsets) {
      byte[] target = parser.room(CONTENT);
      file.read(head, 0, CHUNK_HEAD, offset);
      file.read(target, parser.end, CONTENT, offset + CHUNK_HEAD);
      read.reset();
      read.update(target, parser.end, CONTENT);
      if ((int) read.getValue() != (int) INTS.get(head, Long.BYTES)) {
        throw damaged(file, offset);
      }
      parser.parse(CONTENT);
    }
    byte[] last = open[partition];
    if (last != null && used[partition] > CHUNK_HEAD) {
      int length = used[partition] - CHUNK_HEAD;
      System.arraycopy(last, CHUNK_HEAD, parser.room(length), parser.end, length);
      parser.parse(length);
    }
    if (parser.entries != counts[partition]) {
      throw damaged(file, parser.entries);
    }
  }

  /** Splits a stream of bytes into entries. */
  private static final class Parser {
    private final Entries receiver;
    private byte[] bytes;
    private int start;
    private int end;
    private long number;
    private long entries;

    Parser(Entries receiver, int room) {
      this.receiver = receiver;
      this.bytes = new byte[room];
    }

    /** Returns an array with room for more bytes from {@link #end} on. */
    byte[] room(int length) {
      if (end + length > bytes.length) {
        int left = end - start;
        byte[] target = left + length > bytes.length ? new byte[2 * (left + length)] : bytes;
        System.arraycopy(bytes, start, target, 0, left);
        bytes = target;
        start = 0;
        end = left;
      }
      return bytes;
    }

    /** Passes on all entries that are complete with {@code more} bytes behind the end. */
    void parse(int more) throws IOException {
      end += more;
      while (start < end) {
        long difference = 0;
        int at = start;
        int shift = 0;
        while (at < end && bytes[at] < 0) {
          difference |= (bytes[at++] & 0x7FL) << shift;
          shift += 7;
        }
        if (at == end) {
          return;
        }
        difference |= (long) bytes[at++] << shift;
        if (at + RecordFrame.SHORT > end) {
          return;
        }
        int head = RecordFrame.headLengthAt(bytes, at);
        if (at + head > end) {
          return;
        }
        long header = RecordFrame.header(bytes, at);
        int keyLength = RecordFrame.keyLength(header);
        int valueLength = RecordFrame.valueLength(header);
        int length = head + keyLength + (valueLength > LONG_VALUE ? REFERENCE : valueLength);
        if (at + length > end) {
          return;
        }
        number += difference;
        entries++;
        start = at + length;
        receiver.take(number, bytes, at, at + head, keyLength, length);
      }
    }
  }

  /** Receives parts of a long value. */
  @FunctionalInterface
  interface Parts {
    void take(byte[] part, int length) throws IOException;
  }

  /**
   * Reads a long value in parts.
   *
   * @param reference holds its position and checksum, from {@code at} on
   * @param part receives each part
   */
  void readLong(byte[] reference, int at, int length, byte[] part, Parts receiver)
      throws IOException {
    long position = (long) LONGS.get(reference, at);
    CRC32C read = new CRC32C();
    for (int done = 0; done < length; ) {
      int next = Math.min(length - done, part.length);
      longValues.read(part, 0, next, position + done);
      read.update(part, 0, next);
      receiver.take(part, next);
      done += next;
    }
    if ((int) read.getValue() != (int) INTS.get(reference, at + Long.BYTES)) {
      throw damaged(longValues, position);
    }
  }

  /** Deletes the file of a partition if it is the last partition there. */
  void drop(int partition) throws IOException {
    if ((partition + 1) % PER_FILE == 0) {
      delete(partition / PER_FILE);
    }
    open[partition] = new byte[0];
  }

  private void delete(int number) throws IOException {
    SequentialFile file = files[number];
    if (file != null) {
      files[number] = null;
      file.close();
      Files.deleteIfExists(file.path());
    }
  }

  private void delete() throws IOException {
    IOException failure = null;
    for (int i = 0; i < FILES; i++) {
      try {
        delete(i);
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    try (longValues) {
      Files.deleteIfExists(longValues.path());
    }
    if (failure != null) {
      throw failure;
    }
  }

  private static IOException damaged(SequentialFile file, long at) {
    return new IOException(
        file.path() + ": the temporary file was damaged during the build (a chunk at " + at + ")");
  }

  /** Closes and deletes the files. */
  @Override
  public void close() {
    try {
      delete();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
