package tech.bsdb.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * Reads bytes that are spread over the pages of a data file as one stream, fetching pages as
 * needed. Where records have addresses, the stream is the payload of all pages. In the packed
 * layouts it is one bin at a time, without the directories of the pages that it spans (FORMAT.md
 * §12). Not thread-safe.
 */
/*
 * In each page, the stream has one segment, which the next one follows in another page. A segment of a packed file is
 * known only once its page has been read; all others are whole payloads, so that skipping them reads nothing.
 */
public final class PageCursor {
  /** Pages that a scan reads at once: few enough to stay in the processor's cache. */
  static final int AHEAD = 64;

  /** Bits of the place of a value that hold its byte offset in a file. */
  private static final int OFFSET_BITS = 48;

  private static final long NO_PAGE = -1;

  private DataFile file;
  private CheckedPages pages;
  private Window window;
  private long windowFirst;
  private int windowPages;

  /** Whether the segments are those of bins. */
  private boolean packed;

  /** The number of pages to read at once. */
  private int ahead;

  /** The last page that is worth reading ahead. */
  private long last = Long.MAX_VALUE;

  /** The last page of the record that a lookup reads; of a packed layout, the record may go on. */
  private long expected;

  /** The page after those that were read last. */
  private long behind;

  /** The range of a scan. */
  private FileRange range = FileRange.whole(1).get(0);

  /**
   * The current page; the page that is shown, where it starts in the buffer, and its first field.
   */
  private long page;

  private long shown = NO_PAGE;
  private int base;
  private int head;

  /**
   * The array that holds the page that is shown, if any, and where it starts there; a copy of a
   * page that no array holds.
   */
  private byte @Nullable [] array;

  private int arrayBase;
  private byte[] pageCopy = new byte[0];

  /** The next byte and the end of the segment, from the start of the page. */
  private int at;

  private int end;

  /** Whether the bin continues in the next page. */
  private boolean continues;

  private long recordLength;

  /**
   * The bin, among those that start in its first page, and the next one that starts in this page.
   */
  private long binPage;

  private int slot;
  private int nextSlot;
  private int filter;

  private PageCursor(DataFile file, Window window, boolean packed, int ahead) {
    this.file = file;
    this.pages = file.pages();
    this.window = window;
    this.packed = packed;
    this.ahead = ahead;
    this.end = packed ? 0 : Page.PAYLOAD;
  }

  /** Creates a lookup's cursor {@link #over} an extent that has been read. */
  PageCursor(DataFile file, Extent extent) {
    this(file, extent, false, 1);
    over(file, extent, 1);
  }

  /**
   * Creates a scan's cursor before the first record or bin of a range.
   *
   * @param packed whether the file is one of a packed layout
   * @param ahead pages to read at once
   * @param last the last page to read in this way, or a larger number
   */
  PageCursor(DataFile file, boolean packed, FileRange range, Window window, int ahead, long last) {
    this(file, window, packed, ahead);
    this.range = range;
    this.last = last;
    if (packed) {
      page = (range.from() >>> Page.SHIFT) - 1;
    }
  }

  /**
   * Creates a cursor over a long value of the layout packed.
   *
   * @param files the data files; the caller closes them
   * @param place the {@link RecordScanner#place} of the value
   * @param length the length of the value
   */
  public static PageCursor ofValue(List<DataFile> files, long place, int length)
      throws IOException {
    long offset = place & (1L << OFFSET_BITS) - 1;
    DataFile file = files.get((int) (place >>> OFFSET_BITS));
    PageCursor cursor = new PageCursor(file, new Window(), true, AHEAD);
    cursor.last = (offset >>> Page.SHIFT) + 1 + length / cursor.whole();
    cursor.open(offset >>> Page.SHIFT);
    cursor.segment((int) offset & Page.SIZE - 1, cursor.start(PackedPage.bins(cursor.head)));
    cursor.continues = PackedPage.continues(cursor.head);
    return cursor;
  }

  /** The place of a value that starts here, in a file of some number, for {@link #ofValue}. */
  long place(int number) {
    return (long) number << OFFSET_BITS | position();
  }

  /**
   * Moves to an extent that has been read, as if newly created for it.
   *
   * @param ahead pages to read at once beyond the extent, unless more are {@link #expect expected}
   */
  void over(DataFile file, Extent extent, int ahead) {
    this.file = file;
    this.pages = file.pages();
    this.window = extent;
    this.windowFirst = extent.first();
    this.windowPages = extent.count();
    this.shown = NO_PAGE;
    this.ahead = ahead;
    this.expected = 0;
    this.behind = windowFirst + windowPages;
  }

  /** Forgets which pages the window shows, as others were read into it, and what holds them. */
  void forget() {
    windowPages = 0;
    shown = NO_PAGE;
    array = null;
  }

  /** The file. */
  DataFile file() {
    return file;
  }

  /** Moves to a byte offset of a file of records that have addresses. */
  void seek(long position) throws CorruptDatabaseException {
    packed = false;
    page = position >>> Page.SHIFT;
    at = (int) position & Page.SIZE - 1;
    end = Page.PAYLOAD;
    if (page < 1 || page >= pages.pages() - 1 || at >= Page.PAYLOAD) {
      throw corrupt(position, "a record", "an address outside of the records");
    }
  }

  /** Whether there are more bytes in the range of a scan, not of a packed layout. */
  boolean isInRange() throws CorruptDatabaseException {
    if (page == 0) {
      if (range.from() >= limit()) {
        return false;
      }
      seek(range.from());
    }
    return position() < limit();
  }

  /** Where the range ends, in a file of records that have addresses. */
  private long limit() {
    return Math.min(range.to(), file.end());
  }

  /** Moves past the rest of the page if that is padding of the layout blocked; whether it is. */
  boolean skipPadding() throws IOException {
    int next = load() + at;
    ByteBuffer buffer = window.buffer();
    boolean padding =
        end - at < RecordFrame.SHORT || (buffer.get(next) | buffer.getShort(next + 1)) == 0;
    if (padding) {
      at = end;
    }
    return padding;
  }

  /** Moves to the start of the next page, unless already at the start of a page. */
  void skipPage() {
    if (at != 0) {
      at = end;
    }
  }

  /**
   * Moves to a bin.
   *
   * @param number the bin's number among those that start in the page
   * @param one whether to read only that one rather than all that follow in the page
   */
  void enterBin(long wanted, int number, boolean one) throws IOException {
    packed = true;
    open(wanted);
    if (number >= PackedPage.bins(head)) {
      throw corrupt(position(), "bin " + number, "a page of " + PackedPage.bins(head) + " bins");
    }
    enter(number, one);
  }

  /**
   * Moves to the next bins of the range; false if there are none. The current ones must have been
   * read whole.
   *
   * @param one whether to read only one rather than all that follow in its page
   */
  boolean nextBins(boolean one) throws IOException {
    long behind = Math.min(range.to() >>> Page.SHIFT, pages.pages() - 1);
    boolean within = end == 0 && page > 0; // another bin may fill the first pages of the range
    if (page >= behind) {
      return false; // the last bin ended there
    }
    while (nextSlot >= PackedPage.bins(head)) {
      if (page + 1 >= behind) {
        return false;
      }
      open(page + 1);
      if (!within && start(0) != PackedPage.directory(PackedPage.bins(head))) {
        throw corrupt(page << Page.SHIFT, "a page that starts with a bin", "the rest of another");
      }
    }
    enter(nextSlot, one);
    return true;
  }

  private void enter(int number, boolean one) throws CorruptDatabaseException {
    binPage = page;
    slot = number;
    nextSlot = one ? number + 1 : PackedPage.bins(head);
    int entry = entry(number);
    filter = PackedPage.filter(entry);
    segment(PackedPage.start(entry), start(nextSlot));
    continues = nextSlot == PackedPage.bins(head) && PackedPage.continues(head);
  }

  /** The current page, 0 being the first that holds records. */
  long page() {
    return page - 1;
  }

  /** The page in which the bin starts, 0 being the first that holds records. */
  long binPage() {
    return binPage - 1;
  }

  /** The bin's number among those that start in its first page. */
  int slot() {
    return slot;
  }

  /** The filter of the bin. */
  int filter() {
    return filter;
  }

  /** Whether the bin has more bytes; moves on to the next page if they are there. */
  boolean hasMore() throws IOException {
    while (at == end) {
      if (!continues) {
        return false;
      }
      if (page + 1 >= pages.pages() - 1) {
        throw corrupt(position(), "the rest of a bin", "the end of the file");
      }
      open(page + 1);
      segment(PackedPage.directory(PackedPage.bins(head)), start(0));
      continues = PackedPage.bins(head) == 0 && PackedPage.continues(head);
    }
    return true;
  }

  private void segment(int from, int to) throws CorruptDatabaseException {
    if (from < PackedPage.directory(PackedPage.bins(head)) || from > to || to > Page.PAYLOAD) {
      throw corrupt(page << Page.SHIFT, "records within the page", "bytes " + from + " to " + to);
    }
    at = from;
    end = to;
  }

  /** Where a bin starts in the current page; for the number of bins, where the records end. */
  private int start(int number) {
    return PackedPage.start(entry(number));
  }

  private int entry(int number) {
    return window.buffer().getShort(base + PackedPage.entry(number)) & 0xFFFF;
  }

  /** Shows a packed page and reads its first field. */
  private void open(long number) throws IOException {
    page = number;
    at = 0;
    end = 0;
    nextSlot = 0;
    show();
    head = window.buffer().getShort(base) & 0xFFFF;
    if (PackedPage.bins(head) > PackedPage.MOST_BINS) {
      throw corrupt(
          page << Page.SHIFT,
          "at most " + PackedPage.MOST_BINS + " bins",
          PackedPage.bins(head) + "");
    }
  }

  /** Shows the current page, and reads it unless the window has it. */
  private void show() throws IOException {
    long inWindow = page - windowFirst;
    if (inWindow < 0 || inWindow >= windowPages) {
      readAhead();
      inWindow = 0;
    }
    base = window.offset() + ((int) inWindow << Page.SHIFT);
    ByteBuffer buffer = window.buffer();
    array = buffer.hasArray() ? buffer.array() : null;
    arrayBase = array == null ? 0 : buffer.arrayOffset() + base;
    shown = page;
  }

  /** Reads the current page, and those after it that are worth it, into the window. */
  private void readAhead() throws IOException {
    long left = pages.pages() - 1 - page;
    if (left < 1) {
      throw corrupt(page << Page.SHIFT, "the rest of a record", "the end of the file");
    }
    long useful = Math.min(ahead, Math.max(1, last - page + 1));
    long wanted = Math.min(Math.max(useful, packed ? 0 : expected - page + 1), PageSource.MAX_RUN);
    int count = (int) Math.min(wanted, left);
    if (page == behind || behind == 0) {
      long soon = Math.min(Math.max(expected, lastOfScan()) - page + 1, left);
      if (soon > count) {
        pages.soon(page, soon);
      }
    }
    behind = page + count;
    forget();
    pages.read(page, count, window);
    windowFirst = page;
    windowPages = count;
  }

  /** The last page that a scan reads, unless it jumps; 0 if this is no scan or has no known end. */
  private long lastOfScan() {
    return ahead == 1 || last >= RecordScanner.NO_END
        ? 0
        : Math.min(last, range.to() - 1 >>> Page.SHIFT);
  }

  /**
   * Makes the next byte available, in the next segment if this one is used up, and returns where
   * the current page starts in the window's buffer.
   */
  private int load() throws IOException {
    if (at == end) {
      goOn();
    }
    if (page != shown) {
      show();
    }
    return base;
  }

  private void goOn() throws IOException {
    if (!packed) {
      page++;
      at = 0;
    } else if (!hasMore()) {
      throw corrupt(position(), "the rest of a record", "the end of its bin");
    }
  }

  /**
   * An array that holds the {@link #left} bytes from {@link #index} on, until another page is
   * shown.
   */
  byte[] array() throws IOException {
    load();
    byte[] holding = array;
    if (holding == null) {
      if (pageCopy.length == 0) {
        pageCopy = new byte[Page.SIZE];
      }
      holding = pageCopy;
      window.buffer().get(base, holding, 0, Page.SIZE);
      array = holding;
    }
    return holding;
  }

  /** Where the next byte is in the {@link #array}. */
  int index() {
    return arrayBase + at;
  }

  /** Bytes left in the current segment, and in the range of a scan. */
  int left() {
    long position = (page << Page.SHIFT) + at;
    return packed ? end - at : (int) Math.max(0, Math.min(end - at, limit() - position));
  }

  /** Moves by a number of bytes within the current segment. */
  void move(int bytes) {
    at += bytes;
  }

  /** The byte offset in the file of the next byte. */
  long position() {
    return packed || at < end ? (page << Page.SHIFT) + at : page + 1 << Page.SHIFT;
  }

  /** The page of the byte before the cursor, in a file of records that have addresses. */
  long lastPage() {
    return at == 0 ? page - 1 : page;
  }

  /** Describes damage at a byte offset of the file. */
  CorruptDatabaseException corrupt(long offset, String expected, String found) {
    return file.corrupt(offset, expected, found);
  }

  /** Fails unless that many bytes of a record can follow in the file. */
  void require(long bytes) throws CorruptDatabaseException {
    long left = (pages.pages() - 2 - page) * Page.PAYLOAD + Page.PAYLOAD - at;
    if (bytes > left) {
      throw corrupt(
          position(), bytes + " more bytes of a record", left + " bytes to the end of the file");
    }
  }

  /**
   * Expects that many bytes to be read, so that a lookup reads their pages at once, as far as one
   * read goes; of a packed layout, where directories take an unknown part of the pages, it only has
   * them fetched.
   */
  void expect(long bytes) {
    expected = page + (at + bytes - 1) / Page.PAYLOAD;
  }

  /**
   * Reserves the memory of the next read, if that is large and more than the window has.
   *
   * @throws MemoryBudgetExceededException if the budget has no room
   */
  void reserve(Values values) throws MemoryBudgetExceededException {
    long next = windowFirst + windowPages; // what is in the window is not read again
    long count = packed ? 0 : Math.min(expected - next + 1, PageSource.MAX_RUN);
    if (count > windowPages && count * Page.SIZE > Values.UNASKED) {
      values.reserve(count * Page.SIZE);
    }
  }

  /** Skips the next bytes, which are of one record, without reading pages that hold only them. */
  public void skip(long length) throws IOException {
    long left = length;
    while (left > 0) {
      if (at == end) {
        goOn();
      }
      int part = (int) Math.min(left, end - at);
      at += part;
      left -= part;
      int whole = whole();
      if (left > whole && (continues || !packed)) {
        long further = (left - 1) / whole;
        page += further;
        left -= further * whole;
      }
    }
  }

  /** Bytes of a record in a page that holds nothing else. */
  private int whole() {
    return packed ? Page.PAYLOAD - PackedPage.LEAST_START : Page.PAYLOAD;
  }

  /** Reads the next byte, 0 to 255. */
  int next() throws IOException {
    int start = load();
    return window.buffer().get(start + at++) & 0xFF;
  }

  private int nextShort() throws IOException {
    int low = next();
    return low | next() << 8;
  }

  private int nextInt() throws IOException {
    int low = nextShort();
    return low | nextShort() << 16;
  }

  /**
   * Reads the next record's header, from which {@link RecordFrame#keyLength} and {@link
   * RecordFrame#valueLength} extract the lengths.
   *
   * @param most the most bytes of the record
   * @throws CorruptDatabaseException if there is no record of that length in the file
   */
  long nextHeader(long most) throws IOException {
    long start = position();
    int keyLength = next();
    int valueLength = nextShort();
    long header = RecordFrame.decode(keyLength, valueLength);
    if (header == RecordFrame.IS_WIDE) {
      keyLength = nextShort();
      valueLength = nextInt();
      header = RecordFrame.decodeWide(keyLength, valueLength);
    }
    if (header < 0) {
      throw corrupt(
          start,
          "a record",
          header == RecordFrame.PADDING
              ? "padding"
              : "a key of "
                  + keyLength
                  + " bytes and a value of "
                  + Integer.toUnsignedString(valueLength));
    }
    long content = (long) keyLength + valueLength;
    recordLength = RecordFrame.headerLength(header) + content;
    if (recordLength > most) {
      throw corrupt(
          start, "a record that ends in its block", recordLength + " bytes of " + most + " left");
    }
    require(content);
    return header;
  }

  /** Reads the next LEB128 number. */
  long nextLeb128() throws IOException {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      int part = next();
      value |= (long) (part & 0x7F) << shift;
      if (part < 0x80) {
        return value;
      }
    }
    throw corrupt(position(), "a number in LEB128", "more than nine bytes");
  }

  /** Copies the next bytes. */
  public void read(byte[] target, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      int start = load();
      int part = Math.min(length - done, end - at);
      window.buffer().get(start + at, target, offset + done, part);
      at += part;
      done += part;
    }
  }

  /** The length of the record whose header was read last. */
  long recordLength() {
    return recordLength;
  }

  /**
   * Takes the value of a lookup's next record, or passes over the record if it has another key.
   *
   * @param most the most bytes of the record
   * @return the array that holds the value, see {@link Values#take}; null if the key is another
   */
  byte @Nullable [] valueOf(byte[] key, long most, Values values) throws IOException {
    long header = nextHeader(most);
    int valueLength = RecordFrame.valueLength(header);
    int keyLength = RecordFrame.keyLength(header);
    if (keyLength != key.length) {
      skip((long) keyLength + valueLength);
      return null;
    }
    expect((long) keyLength + valueLength);
    reserve(values);
    if (matches(key)) {
      return take(valueLength, values);
    }
    skip(valueLength);
    return null;
  }

  /** Takes the next bytes, which follow others of the current record, as a value. */
  private byte[] take(int length, Values values) throws IOException {
    if (length > 0 && length <= end - at) { // no further page is needed
      int from = load() + at;
      at += length;
      return values.take(window.buffer(), from, length);
    }
    byte[] value = values.make(length);
    read(value, values.offset(), length);
    return value;
  }

  /** Whether the next bytes equal the key; moves past as many bytes in any case. */
  private boolean matches(byte[] key) throws IOException {
    boolean same = true;
    int done = 0;
    while (done < key.length) {
      int start = load();
      ByteBuffer buffer = window.buffer();
      int part = Math.min(key.length - done, end - at);
      for (int i = 0; i < part && same; i++) {
        same = buffer.get(start + at + i) == key[done + i];
      }
      at += part;
      done += part;
    }
    return same;
  }
}
