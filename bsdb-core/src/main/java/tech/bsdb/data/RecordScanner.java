package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Layout;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Window;

/**
 * Iterates over all records in the order they were written, with their addresses, or, in the packed
 * layouts, with their bins, in the order of their signatures. Reads large runs of pages and
 * verifies each page. Not thread-safe, but several scanners can read the same files at once.
 */
/*
 * Records are shown where they lie, in the pages read or in a decompressed block. Only those that span pages are copied,
 * and of these no long values.
 */
public final class RecordScanner implements Closeable {
  /** Values of more bytes are long. */
  public static final int LONG_VALUE = 1 << 14;

  /** Pages to read at once: few enough to stay in the processor's cache. */
  public static final int AHEAD = PageCursor.AHEAD;

  /** Stands for the last page. */
  public static final long NO_END = 1L << 60;

  /** Of a scan of keys, no value is copied. */
  private static final int NONE = -1;

  private static final byte[] NO_BYTES = new byte[0];

  private final DataFile[] files;
  private final PageCursor[] cursors;
  private final Layout layout;
  private final boolean packed;
  private final @Nullable RecordAddress addresses;
  private final CompressedReader.@Nullable Blocks blocks;
  private final boolean values;
  private final int mostCopied;
  private final Scratch scratch = new Scratch();

  private int current;
  private long stripe;

  /** Content pages of the files before the current one. */
  private long before;

  /** Bytes of the current block's records that are still to come. */
  private long blockLeft;

  /** Where the record, its bin or its block starts in the file, and the detail of its address. */
  private long start;

  private long detail;

  /** Holds the record from {@link #from} to {@link #end}. */
  private byte[] bytes = NO_BYTES;

  private int from;
  private int end;
  private int keyFrom;
  private int keyLength;
  private int valueLength;

  /** For records that span pages. */
  private byte[] copy = NO_BYTES;

  /** A long value, and its place if it is left in the file. */
  private byte @Nullable [] longValue;

  private long place;

  private RecordScanner(
      List<DataFile> files,
      PageCursor[] cursors,
      Layout layout,
      @Nullable RecordAddress addresses,
      byte @Nullable [] dictionary,
      boolean values,
      int mostCopied) {
    this.files = files.toArray(DataFile[]::new);
    this.cursors = cursors;
    this.layout = layout;
    this.packed = layout.isPacked();
    this.addresses = addresses;
    this.blocks = layout.isCompressed() ? new CompressedReader.Blocks(dictionary) : null;
    this.values = values;
    this.mostCopied = mostCopied;
  }

  /**
   * Creates a scanner of all records, which closes the files.
   *
   * @param addresses the packing of addresses; of no use in the packed layouts
   * @param dictionary the dictionary of a compressed database, or null
   * @param values whether to read values too; if false, {@link #value} fails, and pages that hold
   *     only part of a value are skipped
   * @throws IllegalArgumentException if it is not a dictionary; the files stay open
   */
  public RecordScanner(
      List<DataFile> files,
      Layout layout,
      @Nullable RecordAddress addresses,
      byte @Nullable [] dictionary,
      boolean values) {
    this(files, layout, addresses, dictionary, values, FileRange.whole(files.size()));
  }

  /**
   * Creates a scanner of a part of the records, with the parameters of the other constructor.
   *
   * @param ranges which records, for each file
   */
  public RecordScanner(
      List<DataFile> files,
      Layout layout,
      @Nullable RecordAddress addresses,
      byte @Nullable [] dictionary,
      boolean values,
      List<FileRange> ranges) {
    this(
        files,
        cursors(files, layout.isPacked(), ranges),
        layout,
        addresses,
        dictionary,
        values,
        values ? LONG_VALUE : NONE);
  }

  private static PageCursor[] cursors(
      List<DataFile> files, boolean packed, List<FileRange> ranges) {
    PageCursor[] cursors = new PageCursor[files.size()];
    Window window = new Window();
    for (int i = 0; i < cursors.length; i++) {
      FileRange range = ranges.get(i);
      int ahead = (int) Math.max(1, Math.min(AHEAD, range.to() - range.from() >>> Page.SHIFT));
      // Packed files are read one after another, the others in turn.
      Window own = packed ? window : new Window();
      cursors[i] = new PageCursor(files.get(i), packed, range, own, ahead, NO_END);
    }
    return cursors;
  }

  /**
   * Creates a scanner of the layout packed that leaves long values in the files, and that need not
   * be closed.
   *
   * @param files the data files, at least one; the caller closes them
   * @param ahead pages to read at once
   * @param last the last page to read ahead, among the content pages of all files, from 0, or
   *     {@link #NO_END}
   * @param window shows the pages; may be reused after the scanner
   */
  public static RecordScanner inPlace(List<DataFile> files, int ahead, long last, Window window) {
    PageCursor[] cursors = new PageCursor[files.size()];
    FileRange whole = FileRange.whole(1).get(0);
    long before = 0;
    for (int i = 0; i < cursors.length; i++) {
      DataFile file = files.get(i);
      cursors[i] = new PageCursor(file, true, whole, window, ahead, last - before + 1);
      before += file.pages().pages() - 2;
    }
    return new RecordScanner(files, cursors, Layout.PACKED, null, null, false, LONG_VALUE);
  }

  /** Advances to the next record; false at the end. */
  public boolean next() throws IOException {
    if (packed) {
      while (!nextInBin()) {
        if (!nextBin()) {
          return false;
        }
      }
      return true;
    }
    int ended = 0;
    while (ended < cursors.length) {
      PageCursor cursor = cursors[current];
      if (!hasMore(cursor)) {
        ended++;
      } else if ((blockLeft > 0 ? start : cursor.position()) / RecordAddress.STRIPE <= stripe) {
        read(cursor);
        return true;
      } else {
        ended = 0;
      }
      current++;
      if (current == cursors.length) {
        current = 0;
        stripe++;
      }
    }
    return false;
  }

  /** Whether a file of records that have addresses has more; moves past padding. */
  private boolean hasMore(PageCursor cursor) throws IOException {
    if (blockLeft > 0) {
      return true;
    }
    while (cursor.isInRange()) {
      if (layout != Layout.BLOCKED || !cursor.skipPadding()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Moves to a bin of a packed database, before its first record. Bins that are sought must ascend.
   *
   * @param page the number of the page in which it starts, among the content pages of all files,
   *     from 0
   * @param slot the number of the bin among those that start there
   */
  public void seek(long page, int slot) throws IOException {
    int number = 0;
    before = 0;
    while (page - before >= files[number].pages().pages() - 2) {
      before += files[number++].pages().pages() - 2;
    }
    if (number != current) {
      current = number;
      cursors[number].forget();
    }
    cursors[number].enterBin(page - before + 1, slot);
  }

  /**
   * Advances to the next bin of a packed database; false at the end. All records of the current one
   * must have been read.
   */
  public boolean nextBin() throws IOException {
    while (!cursors[current].nextBin()) {
      if (current == files.length - 1) {
        return false;
      }
      before += files[current].pages().pages() - 2;
      current++;
    }
    start = cursors[current].position();
    scratch.block.start();
    return true;
  }

  /** Advances to the next record of the bin; false at its end. */
  public boolean nextInBin() throws IOException {
    PageCursor cursor = cursors[current];
    if (blockLeft == 0 && !cursor.hasMore()) {
      return false;
    }
    read(cursor);
    return true;
  }

  /** Reads the next record, which must be there. */
  private void read(PageCursor cursor) throws IOException {
    longValue = null;
    if (blocks != null) {
      readFromBlock(cursor, blocks);
      return;
    }
    start = cursor.position();
    readHere(cursor, Long.MAX_VALUE);
    if (!packed) {
      detail = cursor.lastPage() - (start >>> Page.SHIFT);
      if (detail > 0 && layout == Layout.BLOCKED) {
        cursor.skipPage();
      }
    }
  }

  private void readFromBlock(PageCursor cursor, CompressedReader.Blocks decoder)
      throws IOException {
    BlockReader block = scratch.block;
    if (blockLeft == 0) {
      bytes = NO_BYTES; // free for the next block
      block.open(cursor, packed);
      start = block.position();
      if (!block.isStored()) {
        bytes = block.raw(cursor, decoder, null);
      }
      blockLeft = block.length();
    }
    detail = block.length() - blockLeft;
    if (block.isStored()) {
      blockLeft -= readHere(cursor, blockLeft);
    } else {
      int length = (int) block.length();
      long header = CompressedReader.header(bytes, (int) detail, length, files[current], start);
      show(bytes, (int) detail, header);
      blockLeft -= end - from;
    }
  }

  /** Reads the record at the cursor, of at most {@code most} bytes, and returns its length. */
  private long readHere(PageCursor cursor, long most) throws IOException {
    byte[] page = cursor.array();
    if (page != null) {
      int at = cursor.index();
      long header = RecordFrame.decode(page, at, at + cursor.left());
      if (header >= 0) {
        show(page, at, header);
        if (end - at <= most) {
          cursor.skip(end - at);
          return end - at;
        }
      }
    }
    long header = cursor.nextHeader(most);
    keyLength = RecordFrame.keyLength(header);
    valueLength = RecordFrame.valueLength(header);
    boolean copied = valueLength <= mostCopied;
    int length = keyLength + (copied ? valueLength : 0);
    if (copy.length < RecordFrame.WIDE + length) {
      copy = new byte[RecordFrame.WIDE + 2 * length];
    }
    bytes = copy;
    from = 0;
    keyFrom = RecordFrame.put(copy, 0, keyLength, valueLength);
    end = keyFrom + length;
    cursor.read(copy, keyFrom, length);
    if (!copied) {
      place = cursor.place(current);
      if (values) {
        longValue = new byte[valueLength];
        cursor.read(longValue, 0, valueLength);
      } else {
        cursor.skip(valueLength);
      }
    }
    return cursor.recordLength();
  }

  /** Shows a record that lies in an array as a whole. */
  private void show(byte[] array, int at, long header) {
    bytes = array;
    from = at;
    keyFrom = at + RecordFrame.headerLength(header);
    keyLength = RecordFrame.keyLength(header);
    valueLength = RecordFrame.valueLength(header);
    end = keyFrom + keyLength + valueLength;
  }

  /** Returns a copy of the record's key. */
  public byte[] key() {
    return Arrays.copyOfRange(bytes, keyFrom, keyFrom + keyLength);
  }

  /** Returns a copy of the record's value. */
  public byte[] value() {
    if (!values) {
      throw new IllegalStateException("this scan reads keys only");
    }
    byte[] whole = longValue;
    int valueFrom = keyFrom + keyLength;
    return whole != null ? whole : Arrays.copyOfRange(bytes, valueFrom, valueFrom + valueLength);
  }

  /** The address of the record; in the packed layouts, where the record or its block starts. */
  public long address() {
    return addresses == null || packed
        ? start
        : addresses.pack(files[current].place().file().number(), start, detail);
  }

  /** Holds the record: its frame and its key, followed by the value unless it is left out. */
  public byte[] bytes() {
    return bytes;
  }

  /** Where the record starts. */
  public int from() {
    return from;
  }

  /** The number of bytes of the record that are there: all, except those of a long value. */
  public int inline() {
    return end - from;
  }

  /** Where the key starts. */
  public int keyFrom() {
    return keyFrom;
  }

  /** The length of the key. */
  public int keyLength() {
    return keyLength;
  }

  /** The length of the value. */
  public int valueLength() {
    return valueLength;
  }

  /** Whether the value is long, so that it has a {@link #place} and is not among the bytes. */
  public boolean isLong() {
    return valueLength > LONG_VALUE;
  }

  /** The place of a long value, for {@link PageCursor#ofValue}. */
  public long place() {
    return place;
  }

  /**
   * Whether a lookup finds the record, which lies in the given part of its bin, by the headers of
   * the compressed blocks.
   */
  public boolean leadsTo(int part) {
    BlockReader block = scratch.block;
    return blocks == null || (part >= block.partBefore() && part <= block.part());
  }

  /** The page in which the bin starts, among the content pages of all files, from 0. */
  public long firstPage() {
    return before + cursors[current].binPage();
  }

  /** The page that the scan has reached, likewise. */
  public long page() {
    return before + cursors[current].page();
  }

  /** The number of the bin among those that start in its first page. */
  public int slot() {
    return cursors[current].slot();
  }

  /** The filter of the bin. */
  public int filter() {
    return cursors[current].filter();
  }

  /** Describes damage where the record or its bin is. */
  public CorruptDatabaseException corrupt(String expected, String found) {
    return files[current].corrupt(start, expected, found);
  }

  /** Closes the files. */
  @Override
  public void close() throws IOException {
    scratch.close();
    try {
      DataFile.closeAll(files);
    } finally {
      if (blocks != null) {
        blocks.close();
      }
    }
  }
}
