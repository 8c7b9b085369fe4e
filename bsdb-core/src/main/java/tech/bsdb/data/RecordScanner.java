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
 * Records are shown where they lie: in runs, each of which is what a page has of a bin or of a file, or a decompressed
 * block. The cursor is behind the run. A record that does not end in the run's page is given back to the cursor and
 * copied, except a long value.
 */
public final class RecordScanner implements RecordView, Closeable {
  /** Values of more bytes are long. */
  public static final int LONG_VALUE = 1 << 14;

  /** Pages to read at once: few enough to stay in the processor's cache. */
  public static final int AHEAD = PageCursor.AHEAD;

  /** Stands for the last page. */
  public static final long NO_END = 1L << 60;

  /** Of a scan of keys, no value is copied. */
  private static final int NONE = -1;

  private static final byte[] NO_BYTES = new byte[0];

  private final List<DataFile> files;
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

  /** Holds the records of the run: the next one, and the end of the last one. */
  private byte[] bytes = NO_BYTES;

  private int next;
  private int limit;

  /** Whether the run is a decompressed block. */
  private boolean decompressed;

  /** Bytes of a stored block behind the run. */
  private long storedLeft;

  /** What makes an index in the run the position in the file, or in a block the offset there. */
  private long origin;

  /** The number of pages of the record besides its first one, if it has an address. */
  private long further;

  /** Where the record is among the bytes, without a long value. */
  private int from;

  private int end;
  private int keyFrom;
  private int keyLength;
  private int valueLength;

  /** The most bytes of a block after decompression. */
  private long longestBlock = Long.MAX_VALUE;

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
    this.files = files;
    this.cursors = cursors;
    this.layout = layout;
    this.packed = layout.isPacked();
    this.addresses = addresses;
    this.blocks = layout.isCompressed() ? new CompressedReader.Blocks(dictionary) : null;
    this.values = values;
    this.mostCopied = mostCopied;
  }

  /**
   * Creates a scanner of some records, which closes the files.
   *
   * @param addresses the packing of addresses; of no use in the packed layouts
   * @param dictionary the dictionary of a compressed database, or null
   * @param values whether to read values too; if false, {@link #value} fails, and pages that hold
   *     only part of a value are skipped
   * @param ranges which records, for each file
   * @throws IllegalArgumentException if it is not a dictionary; the files stay open
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

  /**
   * States how long blocks can be, so that a damaged or forged one is found before it takes more
   * memory.
   *
   * @param bytes the most bytes of a block after decompression
   */
  public RecordScanner withLongestBlock(long bytes) {
    longestBlock = bytes;
    return this;
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
      long last = files.get(i).pages().pages();
      cursors[i] = new PageCursor(files.get(i), packed, range, own, ahead, last);
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
      long own = last == NO_END ? NO_END : last - before + 1;
      cursors[i] = new PageCursor(file, true, whole, window, ahead, own);
      before += file.pages().pages() - 2;
    }
    return new RecordScanner(files, cursors, Layout.PACKED, null, null, false, LONG_VALUE);
  }

  /** Advances to the next record; false at the end. */
  public boolean next() throws IOException {
    if (packed) {
      while (!nextInBin()) {
        if (!nextBins(false)) {
          return false;
        }
      }
      return true;
    }
    if (showNext()) {
      return true;
    }
    int ended = 0;
    while (ended < cursors.length) {
      PageCursor cursor = cursors[current];
      endRun(cursor);
      if (!hasMore(cursor)) {
        ended++;
      } else if (position(cursor) / RecordAddress.STRIPE <= stripe) {
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
    if (storedLeft > 0) {
      return true;
    }
    while (cursor.isInRange()) {
      if (layout != Layout.BLOCKED || !cursor.skipPadding()) {
        return true;
      }
    }
    return false;
  }

  /** Where the next record, or its block, starts. */
  private long position(PageCursor cursor) {
    return storedLeft > 0 ? scratch.block.position() : cursor.position();
  }

  /**
   * Moves to a bin of a packed database, before its first record, for {@link #next}. Bins that are
   * sought must ascend.
   *
   * @param page the number of the page in which it starts, among the content pages of all files,
   *     from 0
   * @param slot the number of the bin among those that start there
   */
  public void seek(long page, int slot) throws IOException {
    int number = 0;
    before = 0;
    while (page - before >= files.get(number).pages().pages() - 2) {
      before += files.get(number++).pages().pages() - 2;
    }
    if (number != current) {
      current = number;
      cursors[number].forget();
    }
    cursors[number].enterBin(page - before + 1, slot, false);
    next = limit;
  }

  /**
   * Advances to the next bin of a packed database; false at the end. All records of the current one
   * must have been read.
   */
  public boolean nextBin() throws IOException {
    return nextBins(true);
  }

  private boolean nextBins(boolean one) throws IOException {
    while (!cursors[current].nextBins(one)) {
      if (current == files.size() - 1) {
        return false;
      }
      before += files.get(current).pages().pages() - 2;
      current++;
    }
    from = 0;
    origin = cursors[current].position();
    scratch.block.start();
    return true;
  }

  /** Advances to the next record of the bin; false at its end. */
  public boolean nextInBin() throws IOException {
    if (showNext()) {
      return true;
    }
    PageCursor cursor = cursors[current];
    endRun(cursor);
    if (storedLeft == 0 && !cursor.hasMore()) {
      return false;
    }
    read(cursor);
    return true;
  }

  /** Shows the next record of the run; false if the run has no whole one. */
  private boolean showNext() {
    int at = next;
    long header = RecordFrame.decode(bytes, at, limit);
    if (header < 0) {
      return false;
    }
    from = at;
    keyLength = RecordFrame.keyLength(header);
    valueLength = RecordFrame.valueLength(header);
    keyFrom = at + RecordFrame.headerLength(header);
    end = keyFrom + keyLength + valueLength;
    next = end;
    return true;
  }

  /** Gives what is left of the run back to the cursor. */
  private void endRun(PageCursor cursor) throws IOException {
    int rest = limit - next;
    next = limit;
    if (rest > 0) {
      if (decompressed) {
        throw CompressedReader.noRecord(files.get(current), start(), bytes, limit - rest, limit);
      }
      cursor.move(-rest);
      if (blocks != null) {
        storedLeft += rest;
      }
    }
  }

  /** Reads the next record, which must be there, behind the run. */
  private void read(PageCursor cursor) throws IOException {
    longValue = null;
    further = 0;
    if (blocks != null && storedLeft == 0) {
      openBlock(cursor, blocks);
    }
    if (!decompressed) {
      startRun(cursor);
    }
    if (!showNext()) {
      endRun(cursor);
      readCopy(cursor);
    }
  }

  private void openBlock(PageCursor cursor, CompressedReader.Blocks decoder) throws IOException {
    BlockReader block = scratch.block;
    bytes = NO_BYTES; // free for the next block
    next = 0;
    limit = 0;
    block.open(cursor, packed);
    decompressed = !block.isStored();
    if (decompressed && block.length() > longestBlock) {
      throw cursor.corrupt(
          block.position(),
          "a block of at most " + longestBlock + " bytes",
          "a length of " + block.length() + " bytes");
    }
    if (decompressed) {
      bytes = block.raw(cursor, decoder, null);
      limit = (int) block.length();
      origin = 0;
    } else {
      storedLeft = block.length();
    }
  }

  /** Starts a run of what the page has of the bin, the block or the file. */
  private void startRun(PageCursor cursor) throws IOException {
    bytes = cursor.array();
    int length = cursor.left();
    if (blocks != null) {
      length = (int) Math.min(length, storedLeft);
      origin = scratch.block.length() - storedLeft - cursor.index();
      storedLeft -= length;
    } else {
      origin = cursor.position() - cursor.index();
    }
    next = cursor.index();
    limit = next + length;
    cursor.move(length);
  }

  /** Reads a record that the run does not have. */
  private void readCopy(PageCursor cursor) throws IOException {
    long start = cursor.position();
    long header = cursor.nextHeader(blocks == null ? Long.MAX_VALUE : storedLeft);
    keyLength = RecordFrame.keyLength(header);
    valueLength = RecordFrame.valueLength(header);
    boolean copied = valueLength <= mostCopied;
    int length = keyLength + (copied ? valueLength : 0);
    if (copy.length < RecordFrame.WIDE + length) {
      copy = new byte[RecordFrame.WIDE + 2 * length];
    }
    bytes = copy;
    next = 0;
    limit = 0;
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
    if (blocks != null) {
      origin = scratch.block.length() - storedLeft;
      storedLeft -= cursor.recordLength();
      return;
    }
    origin = start;
    if (!packed) {
      further = cursor.lastPage() - (start >>> Page.SHIFT);
      if (further > 0 && layout == Layout.BLOCKED) {
        cursor.skipPage();
      }
    }
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
    long start = start();
    if (addresses == null || packed) {
      return start;
    }
    int number = files.get(current).place().file().number();
    return addresses.pack(number, start, blocks == null ? further : origin + from);
  }

  private long start() {
    return blocks == null ? origin + from : scratch.block.position();
  }

  /** Holds the record: its frame and its key, followed by the value unless it is left out. */
  @Override
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

  @Override
  public int keyFrom() {
    return keyFrom;
  }

  @Override
  public int keyLength() {
    return keyLength;
  }

  @Override
  public int valueLength() {
    return valueLength;
  }

  @Override
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
    return files.get(current).corrupt(start(), expected, found);
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
