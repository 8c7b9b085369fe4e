package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Layout;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Window;

/**
 * Iterates over all records in the order they were written, with their addresses. Reads large runs
 * of pages and verifies each page. Not thread-safe.
 */
public final class RecordScanner implements Closeable {
  private static final int AHEAD = 256 * 1024;

  private final FileWalk[] files;
  private final DataFile[] opened;
  private final CompressedReader.@Nullable Blocks blocks;
  private final boolean values;
  private final boolean striped;
  private int current;
  private long stripe;

  /** Creates a scanner of keys and values, with the parameters of the other constructor. */
  public RecordScanner(
      List<DataFile> files, Layout layout, RecordAddress addresses, byte @Nullable [] dictionary) {
    this(files, layout, addresses, dictionary, true);
  }

  /**
   * Creates a scanner, which closes the files.
   *
   * @param dictionary the dictionary of a compressed database, or null
   * @param values whether to read values too; if false, {@link #value} fails, and pages that hold
   *     only part of a value are skipped
   */
  public RecordScanner(
      List<DataFile> files,
      Layout layout,
      RecordAddress addresses,
      byte @Nullable [] dictionary,
      boolean values) {
    this(files, layout, addresses, dictionary, values, FileRange.whole(files.size()));
  }

  /**
   * Creates a scanner of a part of the records, with the parameters of the other constructors.
   *
   * @param ranges which records, for each file
   */
  public RecordScanner(
      List<DataFile> files,
      Layout layout,
      RecordAddress addresses,
      byte @Nullable [] dictionary,
      boolean values,
      List<FileRange> ranges) {
    this.values = values;
    this.opened = files.toArray(DataFile[]::new);
    this.blocks = layout.isCompressed() ? new CompressedReader.Blocks(dictionary, 1) : null;
    this.files = new FileWalk[opened.length];
    this.striped = opened.length > 1 && !layout.isPacked();
    for (int i = 0; i < opened.length; i++) {
      FileRange range = ranges.get(i);
      this.files[i] =
          switch (layout) {
            case PACKED -> new BinWalk(opened[i], range, values);
            case PACKED_COMPRESSED ->
                new CompressedBinWalk(opened[i], range, dictionaryBlocks(), values);
            case COMPRESSED ->
                new BlockWalk(opened[i], range, addresses, dictionaryBlocks(), values);
            default -> new PlainWalk(opened[i], range, addresses, layout == Layout.BLOCKED, values);
          };
    }
  }

  /** Bytes to read at once: of a short range not much more than that. */
  private static int ahead(FileRange range) {
    return (int) Math.max(Page.SIZE, Math.min(AHEAD, range.to() - range.from()));
  }

  private CompressedReader.Blocks dictionaryBlocks() {
    if (blocks == null) {
      throw new IllegalStateException("the layout has no blocks");
    }
    return blocks;
  }

  /** Advances to the next record; false at the end. */
  public boolean next() throws IOException {
    int ended = 0;
    while (ended < files.length) {
      FileWalk file = files[current];
      if (file.atEnd()) {
        ended++;
      } else if (!striped || file.position() / RecordAddress.STRIPE <= stripe) {
        file.read();
        return true;
      } else {
        ended = 0;
      }
      if (!striped && current == files.length - 1) {
        return false;
      }
      current++;
      if (current == files.length) {
        current = 0;
        stripe++;
      }
    }
    return false;
  }

  /** The key of the record. */
  public byte[] key() {
    return files[current].key;
  }

  /** The value of the record. */
  public byte[] value() {
    if (!values) {
      throw new IllegalStateException("this scan reads keys only");
    }
    return files[current].value;
  }

  /** The address of the record. */
  public long address() {
    return files[current].address;
  }

  @Override
  public void close() throws IOException {
    try {
      for (FileWalk file : files) {
        file.scratch.close();
      }
      PlainReader.closeAll(opened);
    } finally {
      if (blocks != null) {
        blocks.close();
      }
    }
  }

  /** The records of one file. */
  private abstract static class FileWalk {
    final DataFile file;
    final boolean values;
    final Scratch scratch = new Scratch();
    byte[] key = new byte[0];
    byte[] value = new byte[0];
    long address;

    FileWalk(DataFile file, boolean values) {
      this.file = file;
      this.values = values;
    }

    /** Whether there are no more records. */
    abstract boolean atEnd() throws IOException;

    /** The byte offset of the next record, or of its block. */
    abstract long position();

    /** Reads the next record. */
    abstract void read() throws IOException;
  }

  /** The records of one file, which have addresses. */
  private abstract static class AddressedWalk extends FileWalk {
    final int number;
    final RecordAddress addresses;
    final PayloadCursor cursor;
    private final FileRange range;
    private boolean started;

    AddressedWalk(DataFile file, FileRange range, RecordAddress addresses, boolean values) {
      super(file, values);
      this.range = range;
      this.number = file.place().file().number();
      this.addresses = addresses;
      this.cursor = new PayloadCursor(file, new Window(), ahead(range));
    }

    /** Whether the cursor is at the end of the range; goes to its start first. */
    final boolean outside() throws IOException {
      long end = Math.min(range.to(), file.end());
      if (range.from() >= end) {
        return true;
      }
      if (!started) {
        started = true;
        cursor.seek(range.from());
      }
      return cursor.position() >= end;
    }

    /** Reads or skips the value at the cursor. */
    void readValue(int length) throws IOException {
      if (values) {
        value = new byte[length];
        cursor.read(value, 0, length);
      } else {
        cursor.skip(length);
      }
    }
  }

  /** The records of a file of the packed layout, bin by bin. Their addresses are byte offsets. */
  private static class BinWalk extends FileWalk {
    final BinCursor cursor;

    BinWalk(DataFile file, FileRange range, boolean values) {
      super(file, values);
      this.cursor = new BinCursor(file, new Window(), ahead(range) / Page.SIZE);
      this.cursor.over(range.from() >>> Page.SHIFT, range.to() >>> Page.SHIFT);
    }

    /** Whether the bin has more records. */
    boolean hasMore() throws IOException {
      return cursor.hasMore();
    }

    @Override
    final boolean atEnd() throws IOException {
      while (!hasMore()) {
        if (!cursor.nextBin()) {
          return true;
        }
      }
      return false;
    }

    @Override
    final long position() {
      return cursor.position();
    }

    @Override
    void read() throws IOException {
      address = cursor.position();
      long header = cursor.nextHeader();
      if (header == RecordFrame.PADDING) {
        throw file.corrupt(address, "a record", "padding");
      }
      int keyLength = RecordFrame.keyLength(header);
      int valueLength = RecordFrame.valueLength(header);
      cursor.expect((long) keyLength + valueLength);
      key = new byte[keyLength];
      cursor.read(key, 0, keyLength);
      if (values) {
        value = new byte[valueLength];
        cursor.read(value, 0, valueLength);
      } else {
        cursor.skip(valueLength);
      }
    }
  }

  /** The records of a file of compressed bins. Their addresses are those of their blocks. */
  private static final class CompressedBinWalk extends BinWalk {
    private final BlockRecords records;

    CompressedBinWalk(
        DataFile file, FileRange range, CompressedReader.Blocks blocks, boolean values) {
      super(file, range, values);
      this.records = new BlockRecords(cursor, file, blocks, scratch);
    }

    @Override
    boolean hasMore() throws IOException {
      return records.hasMore();
    }

    @Override
    void read() throws IOException {
      records.next();
      key = records.key();
      if (values) {
        value = new byte[records.valueLength()];
        records.value(value, 0);
      } else {
        records.skipValue();
      }
      address = records.block();
    }
  }

  private static final class PlainWalk extends AddressedWalk {
    private final boolean blocked;
    private boolean atRecord;
    private long start;
    private int keyLength;
    private int valueLength;

    PlainWalk(
        DataFile file, FileRange range, RecordAddress addresses, boolean blocked, boolean values) {
      super(file, range, addresses, values);
      this.blocked = blocked;
    }

    @Override
    boolean atEnd() throws IOException {
      while (!atRecord && !outside()) {
        if (blocked && cursor.room() < RecordFrame.SHORT) {
          cursor.skipPage();
        } else {
          readHeader();
        }
      }
      return !atRecord;
    }

    /** Reads a header; padding skips the rest of the page. */
    private void readHeader() throws IOException {
      start = cursor.position();
      long header = cursor.nextHeader();
      if (header == RecordFrame.PADDING) {
        if (!blocked) {
          throw file.corrupt(start, "a record", "padding");
        }
        cursor.skipPage();
        return;
      }
      keyLength = RecordFrame.keyLength(header);
      valueLength = RecordFrame.valueLength(header);
      cursor.expect((long) keyLength + valueLength);
      atRecord = true;
    }

    @Override
    long position() {
      return start;
    }

    @Override
    void read() throws IOException {
      key = new byte[keyLength];
      cursor.read(key, 0, keyLength);
      readValue(valueLength);
      atRecord = false;
      long last = cursor.lastPage();
      address = addresses.pack(number, start, last - (start >>> Page.SHIFT));
      if (blocked && last > start >>> Page.SHIFT) {
        cursor.skipPage();
      }
    }
  }

  private static final class BlockWalk extends AddressedWalk {
    /** A longer stored block is a single record, which is read directly into its own arrays. */
    private static final long MAX_BLOCK = 1 << 20;

    private final CompressedReader.Blocks blocks;
    private byte[] raw = new byte[0];
    private int rawLength;
    private int at;
    private long block;

    BlockWalk(
        DataFile file,
        FileRange range,
        RecordAddress addresses,
        CompressedReader.Blocks blocks,
        boolean values) {
      super(file, range, addresses, values);
      this.blocks = blocks;
    }

    @Override
    boolean atEnd() throws IOException {
      if (at < rawLength) {
        return false;
      }
      return outside();
    }

    @Override
    long position() {
      return at < rawLength ? block : cursor.position();
    }

    @Override
    void read() throws IOException {
      if (at >= rawLength) {
        block = cursor.position();
        long lengthAndKind = cursor.nextLeb128();
        if ((lengthAndKind & 1) != 0 && lengthAndKind >>> 1 > MAX_BLOCK) {
          readLarge();
          return;
        }
        rawLength = CompressedReader.Blocks.rawLength(lengthAndKind, file, block);
        raw = blocks.decompress(cursor, file, block, lengthAndKind, scratch);
        at = 0;
      }
      int start = at;
      long header = CompressedReader.header(raw, at, rawLength, file, block);
      int keyLength = RecordFrame.keyLength(header);
      int valueLength = RecordFrame.valueLength(header);
      at += RecordFrame.headerLength(header);
      key = Arrays.copyOfRange(raw, at, at + keyLength);
      if (values) {
        value = Arrays.copyOfRange(raw, at + keyLength, at + keyLength + valueLength);
      }
      at += keyLength + valueLength;
      address = addresses.pack(number, block, start);
    }

    private void readLarge() throws IOException {
      long header = cursor.nextHeader();
      if (header < 0 || RecordFrame.headerLength(header) != RecordFrame.WIDE) {
        throw file.corrupt(block, "a large record", "other bytes");
      }
      int keyLength = RecordFrame.keyLength(header);
      int valueLength = RecordFrame.valueLength(header);
      cursor.expect((long) keyLength + valueLength);
      key = new byte[keyLength];
      cursor.read(key, 0, keyLength);
      readValue(valueLength);
      address = addresses.pack(number, block, 0);
    }
  }
}
