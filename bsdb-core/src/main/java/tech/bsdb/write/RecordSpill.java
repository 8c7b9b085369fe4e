package tech.bsdb.write;

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
 * Spills records to temporary files, in partitions, until all are known. The records of a partition
 * form a chain of chunks in one of few files. Files hold consecutive partitions, so that each can
 * be deleted once its partitions are done. Uses a file descriptor and 256 KiB of memory for each,
 * and that of a chunk for each partition, regardless of the number of records.
 *
 * <p>An entry is a record's number, as the difference to the one before it in the partition in
 * LEB128, and the framed record. A long value is written to the file of its partition, between the
 * chunks, and replaced by its position and its checksum. Damage to the files is found when they are
 * read. One thread adds; after {@link #finish}, any number may read.
 */
public final class RecordSpill implements RecordWriter {
  /** log2 of the number of partitions by signatures. */
  public static final int PARTITION_BITS = 10;

  /** Number of partitions by signatures: their top bits. */
  public static final int PARTITIONS = 1 << PARTITION_BITS;

  /** Values of more bytes are long. */
  static final int LONG_VALUE = 1 << 14;

  /** The most files over which partitions are spread evenly. */
  private static final int FILES = 16;

  /** Bytes of a chunk of a partition by signatures. */
  private static final int CHUNK = 1 << 14;

  /**
   * A chunk starts with the position of the one before it and the CRC32C of that and the content.
   */
  private static final int CHUNK_HEAD = Long.BYTES + Integer.BYTES;

  /** Instead of a long value: the number of its file, its position there, and its CRC32C. */
  static final int REFERENCE = Long.BYTES + Integer.BYTES;

  /** Bits of a position; the number of the file lies above them. */
  private static final int POSITION_BITS = 56;

  private static final long NONE = -1;

  /** Standard deviations by which no partition exceeds the average. */
  private static final int DEVIATIONS = 6;

  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Path directory;
  private final String name;
  private final int partitions;
  private final int[] fileOf;
  private final int chunkBytes;
  private final @Nullable SequentialFile[] files;
  private final boolean[] dropped;
  private final long[] written;
  private final byte[][] open;
  private final int[] used;
  private final long[] lastChunk;
  private final long[] chunks;
  private final long[] counts;
  private final long[] elsewhere;
  private final long[] lastNumber;
  private final byte[] small = new byte[2 * Long.BYTES];
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
    long entry = entryBytes(keyLength, valueLength);
    double average = (double) records / PARTITIONS;
    double largest = (average + DEVIATIONS * Math.sqrt(average)) * entry;
    int content = CHUNK - CHUNK_HEAD;
    long fullest = (long) (largest / content);
    long chunks = Math.min(fullest * PARTITIONS, records * entry / content);
    return chunks * CHUNK;
  }

  /** The size at most of the chunks of entries of so many bytes. */
  static long chunkBytes(long entryBytes, int chunk) {
    return entryBytes / (chunk - CHUNK_HEAD) * chunk;
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
    return Math.min(FILES, units);
  }

  /** Creates the files of a spill by signatures in a directory. */
  public RecordSpill(Path directory) throws IOException {
    this(directory, "records", PARTITIONS, CHUNK);
  }

  /**
   * Creates the files of a spill in a directory.
   *
   * @param name the first part of the files' names
   * @param partitions the number of partitions, which are spread evenly over the files
   * @param chunkBytes bytes of a chunk
   */
  RecordSpill(Path directory, String name, int partitions, int chunkBytes) throws IOException {
    this(directory, name, evenly(partitions), chunkBytes);
    try {
      for (int i = 0; i < files.length; i++) {
        file(i);
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

  private static int[] evenly(int partitions) {
    int files = Math.min(FILES, partitions);
    int[] fileOf = new int[partitions];
    Arrays.setAll(fileOf, partition -> (int) ((long) partition * files / partitions));
    return fileOf;
  }

  /**
   * Creates a spill, whose files are created in a directory when they are needed.
   *
   * @param name the first part of the files' names
   * @param fileOf the number of the file of each partition, in ascending order from 0 on
   * @param chunkBytes bytes of a chunk
   */
  RecordSpill(Path directory, String name, int[] fileOf, int chunkBytes) {
    this.directory = directory;
    this.name = name;
    this.partitions = fileOf.length;
    this.fileOf = fileOf;
    this.chunkBytes = chunkBytes;
    this.files = new SequentialFile[1 + fileOf[partitions - 1]];
    this.dropped = new boolean[files.length];
    this.written = new long[files.length];
    this.open = new byte[partitions][];
    this.used = new int[partitions];
    this.lastChunk = new long[partitions];
    this.chunks = new long[partitions];
    this.counts = new long[partitions];
    this.elsewhere = new long[partitions];
    this.lastNumber = new long[partitions];
    Arrays.fill(lastChunk, NONE);
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
    int length = leb128(number - lastNumber[partition]);
    lastNumber[partition] = number;
    if (record.valueLength <= LONG_VALUE && fits(partition, length, record)) {
      counted(partition, record);
      return;
    }
    put(partition, small, 0, length);
    put(partition, record.head, record.headStart, record.headLength);
    if (record.valueLength > LONG_VALUE) {
      int file = fileOf(partition);
      LONGS.set(small, 0, (long) file << POSITION_BITS | written[file]);
      crc.reset();
      crc.update(record.value, record.valueStart, record.valueLength);
      INTS.set(small, Long.BYTES, (int) crc.getValue());
      write(file, record.value, record.valueStart, record.valueLength);
      put(partition, small, 0, REFERENCE);
      elsewhere[partition] += record.valueLength;
    } else {
      put(partition, record.value, record.valueStart, record.valueLength);
    }
    counted(partition, record);
  }

  private void counted(int partition, FramedRecord record) {
    counts[partition]++;
    records++;
    recordBytes += record.headLength + (long) record.valueLength;
  }

  /** Puts an entry into the open chunk of a partition if it does not fill it. */
  private boolean fits(int partition, int numberLength, FramedRecord record) {
    byte[] chunk = open[partition];
    int at = used[partition];
    if (chunk == null || numberLength + record.headLength + record.valueLength >= chunkBytes - at) {
      return false;
    }
    for (int i = 0; i < numberLength; i++) {
      chunk[at++] = small[i];
    }
    if (record.isContiguous()) {
      int length = record.headLength + record.valueLength;
      System.arraycopy(record.head, record.headStart, chunk, at, length);
      used[partition] = at + length;
    } else {
      System.arraycopy(record.head, record.headStart, chunk, at, record.headLength);
      at += record.headLength;
      System.arraycopy(record.value, record.valueStart, chunk, at, record.valueLength);
      used[partition] = at + record.valueLength;
    }
    return true;
  }

  /** The number of the file that holds a partition. */
  private int fileOf(int partition) {
    return fileOf[partition];
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
      chunk = new byte[chunkBytes];
      open[partition] = chunk;
      used[partition] = CHUNK_HEAD;
    }
    int from = offset;
    int left = length;
    while (left > 0) {
      int part = Math.min(left, chunkBytes - used[partition]);
      System.arraycopy(bytes, from, chunk, used[partition], part);
      used[partition] += part;
      from += part;
      left -= part;
      if (used[partition] == chunkBytes) {
        flush(partition);
      }
    }
  }

  private void flush(int partition) throws IOException {
    int number = fileOf(partition);
    LONGS.set(open[partition], 0, lastChunk[partition]);
    INTS.set(open[partition], Long.BYTES, checksum(crc, open[partition], 0));
    lastChunk[partition] = written[number];
    write(number, open[partition], 0, chunkBytes);
    chunks[partition]++;
    used[partition] = CHUNK_HEAD;
  }

  private void write(int number, byte[] bytes, int offset, int length) throws IOException {
    file(number).write(bytes, offset, length);
    written[number] += length;
  }

  /** The checksum of a chunk, which is part of an array. */
  private int checksum(CRC32C crc, byte[] bytes, int at) {
    crc.reset();
    crc.update(bytes, at, Long.BYTES);
    crc.update(bytes, at + CHUNK_HEAD, chunkBytes - CHUNK_HEAD);
    return (int) crc.getValue();
  }

  /** A file, which the first call creates: any thread that reads may ask for an empty one. */
  private synchronized SequentialFile file(int number) throws IOException {
    SequentialFile file = files[number];
    if (file == null) {
      if (dropped[number]) {
        throw new IllegalStateException("the partitions of file " + number + " were dropped");
      }
      file = new SequentialFile(directory.resolve(name + "-" + number + ".part"));
      files[number] = file;
    }
    return file;
  }

  /** Flushes the files; no record may be added afterwards. */
  @Override
  public void finish() throws IOException {
    for (int i = 0; i < files.length; i++) {
      if (written[i] > 0) {
        file(i).flush();
      }
    }
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
    return chunks[partition] * (chunkBytes - CHUNK_HEAD)
        + Math.max(0, used[partition] - CHUNK_HEAD);
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
    SequentialFile file = file(fileOf(partition));
    long end = written[fileOf(partition)];
    long at = lastChunk[partition];
    for (int i = offsets.length - 1; i >= 0; i--) {
      if (at < 0 || at > end - chunkBytes) {
        throw damaged(file, at);
      }
      offsets[i] = at;
      file.read(link, 0, link.length, at);
      at = (long) LONGS.get(link, 0);
    }
    if (at != NONE) {
      throw damaged(file, at);
    }
    Parser parser = new Parser(receiver, (int) Math.min(8L * CHUNK, bytes(partition)));
    CRC32C read = new CRC32C();
    byte[] chunk = new byte[offsets.length == 0 ? 0 : chunkBytes];
    for (long offset : offsets) {
      file.read(chunk, 0, chunkBytes, offset);
      if (checksum(read, chunk, 0) != (int) INTS.get(chunk, Long.BYTES)) {
        throw damaged(file, offset);
      }
      parser.parse(chunk, CHUNK_HEAD, chunkBytes - CHUNK_HEAD);
    }
    byte[] last = open[partition];
    if (last != null && used[partition] > CHUNK_HEAD) {
      parser.parse(last, CHUNK_HEAD, used[partition] - CHUNK_HEAD);
    }
    if (parser.entries != counts[partition]) {
      throw damaged(file, parser.entries);
    }
  }

  /**
   * Passes all entries of a partition to a receiver, from an array that holds them all and stays as
   * it is.
   *
   * @param room is used if it is large enough
   * @return the array
   */
  byte[] readWhole(int partition, byte[] room, Entries receiver) throws IOException {
    int end = Math.toIntExact(CHUNK_HEAD + bytes(partition));
    byte[] all =
        room.length >= end ? room : new byte[end + Math.min(end / 8, Integer.MAX_VALUE - 8 - end)];
    SequentialFile file = file(fileOf(partition));
    byte[] last = open[partition];
    int from = end;
    if (last != null && used[partition] > CHUNK_HEAD) {
      from -= used[partition] - CHUNK_HEAD;
      System.arraycopy(last, CHUNK_HEAD, all, from, end - from);
    }
    // From the last chunk to the first: each overwrites the head of the one behind it.
    long place = lastChunk[partition];
    CRC32C read = new CRC32C();
    while (from > CHUNK_HEAD) {
      if (place < 0 || place > written[fileOf(partition)] - chunkBytes) {
        throw damaged(file, place);
      }
      from -= chunkBytes - CHUNK_HEAD;
      int head = from - CHUNK_HEAD;
      file.read(all, head, chunkBytes, place);
      if (checksum(read, all, head) != (int) INTS.get(all, head + Long.BYTES)) {
        throw damaged(file, place);
      }
      place = (long) LONGS.get(all, head);
    }
    if (place != NONE) {
      throw damaged(file, place);
    }
    Parser parser = new Parser(receiver, 0);
    if (parser.pass(all, from, end) != end || parser.entries != counts[partition]) {
      throw damaged(file, parser.entries);
    }
    return all;
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

    /** Makes room for more bytes from {@link #end} on. */
    private void makeRoom(int length) {
      if (end + length > bytes.length) {
        int left = end - start;
        byte[] target = left + length > bytes.length ? new byte[2 * (left + length)] : bytes;
        System.arraycopy(bytes, start, target, 0, left);
        bytes = target;
        start = 0;
        end = left;
      }
    }

    /** Passes on all entries that are complete with more bytes. */
    void parse(byte[] more, int from, int count) throws IOException {
      makeRoom(count);
      System.arraycopy(more, from, bytes, end, count);
      end += count;
      start = pass(bytes, start, end);
    }

    /** Passes on all complete entries of a part of an array; returns where they end. */
    int pass(byte[] bytes, int from, int to) throws IOException {
      int next = from;
      while (next < to) {
        long difference = 0;
        int at = next;
        int shift = 0;
        while (at < to && bytes[at] < 0) {
          difference |= (bytes[at++] & 0x7FL) << shift;
          shift += 7;
        }
        if (at == to) {
          return next;
        }
        difference |= (long) bytes[at++] << shift;
        if (at + RecordFrame.SHORT > to) {
          return next;
        }
        int head = RecordFrame.headLengthAt(bytes, at);
        if (at + head > to) {
          return next;
        }
        long header = RecordFrame.header(bytes, at);
        int keyLength = RecordFrame.keyLength(header);
        int valueLength = RecordFrame.valueLength(header);
        int length = head + keyLength + (valueLength > LONG_VALUE ? REFERENCE : valueLength);
        if (at + length > to) {
          return next;
        }
        number += difference;
        entries++;
        next = at + length;
        receiver.take(number, bytes, at, at + head, keyLength, length);
      }
      return next;
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
   * @param reference holds its place and checksum, from {@code at} on
   * @param part receives each part
   */
  void readLong(byte[] reference, int at, int length, byte[] part, Parts receiver)
      throws IOException {
    long place = (long) LONGS.get(reference, at);
    long position = place & (1L << POSITION_BITS) - 1;
    SequentialFile file = file((int) (place >>> POSITION_BITS));
    CRC32C read = new CRC32C();
    for (int done = 0; done < length; ) {
      int next = Math.min(length - done, part.length);
      file.read(part, 0, next, position + done);
      read.update(part, 0, next);
      receiver.take(part, next);
      done += next;
    }
    if ((int) read.getValue() != (int) INTS.get(reference, at + Long.BYTES)) {
      throw damaged(file, position);
    }
  }

  /** Deletes the file of a partition if it is the last partition there. */
  void drop(int partition) throws IOException {
    if (partition + 1 == partitions || fileOf(partition + 1) > fileOf(partition)) {
      delete(fileOf(partition));
    }
    open[partition] = new byte[0];
  }

  private synchronized void delete(int number) throws IOException {
    SequentialFile file = files[number];
    dropped[number] = true;
    if (file != null) {
      files[number] = null;
      file.close();
      Files.deleteIfExists(file.path());
    }
  }

  private void delete() throws IOException {
    IOException failure = null;
    for (int i = 0; i < files.length; i++) {
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
