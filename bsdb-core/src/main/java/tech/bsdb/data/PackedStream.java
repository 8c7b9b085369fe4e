package tech.bsdb.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Window;

/**
 * Reads the records of a database of the layout packed one after another, in the order of their
 * signatures, from any page on (FORMAT.md §12). Since bins follow each other in that order, the
 * records of all pages, without the directories, are a sequence of frames: this needs no bins to
 * find them. Reads large runs of pages and verifies each page. Long values stay in the files; they
 * can be read by their place. Not thread-safe, but several streams can read the same files at once.
 */
public final class PackedStream {
  /** Values of more bytes are long. */
  public static final int LONG_VALUE = 1 << 14;

  /** Pages to read at once: few enough to stay in the processor's cache. */
  public static final int AHEAD = 64;

  /** Stands for the last page. */
  public static final long NO_END = 1L << 60;

  /** Bytes of a record in a page that holds nothing else. */
  static final int WHOLE = Page.PAYLOAD - PackedPage.LEAST_START;

  /** Bits of a place that hold the byte offset in a file. */
  static final int OFFSET_BITS = 48;

  private final List<DataFile> files;
  private final int ahead;

  /** The last page to read ahead, among the content pages of all files, from 0. */
  private final long last;

  private final Window window;
  private long windowFirst;
  private int windowPages;

  /** The current file, its current page, and where that starts in the window's buffer. */
  private int number;

  private DataFile file;

  /** Content pages of the files before the current one. */
  private long before;

  private long page;
  private int base;
  private int head;

  /** Records of the pages read so far: the current one, and what follows it. */
  private byte[] bytes = new byte[2 * Page.SIZE];

  private int from;
  private int next;
  private int used;

  /** Where the bytes of the current page start, and the offset in the page of the first of them. */
  private int pageBytes;

  private int pageOffset;

  private int keyFrom;
  private int keyLength;
  private int valueLength;
  private long place;

  /**
   * Creates a stream at the first record.
   *
   * @param files the data files, at least one; the caller closes them
   */
  public PackedStream(List<DataFile> files) {
    this(files, AHEAD, NO_END, new Window());
  }

  /**
   * Creates a stream at the first record.
   *
   * @param files the data files, at least one; the caller closes them
   * @param ahead pages to read at once
   * @param last the last page to read ahead, among the content pages of all files, from 0, or
   *     {@link #NO_END}
   * @param window shows the pages; may be reused after the stream
   */
  public PackedStream(List<DataFile> files, int ahead, long last, Window window) {
    this.files = files;
    this.ahead = ahead;
    this.last = last;
    this.window = window;
    this.file = files.get(0);
  }

  /**
   * Moves to a bin.
   *
   * @param wanted the number of the page in which it starts, among the content pages of all files,
   *     from 0
   * @param bin the number of the bin among those that start there
   */
  public void seek(long wanted, int bin) throws IOException {
    long left = wanted;
    int at = 0;
    while (left >= files.get(at).pages().pages() - 2) {
      left -= files.get(at).pages().pages() - 2;
      at++;
    }
    if (at != number) {
      enter(at);
    }
    open(left + 1);
    if (PackedPage.bins(head) <= bin) {
      throw corrupt(
          page << Page.SHIFT,
          "a page in which more than " + bin + " bins start",
          PackedPage.bins(head) + "");
    }
    clear();
    append(start(bin));
  }

  private void enter(int which) {
    number = which;
    before = 0;
    for (int i = 0; i < which; i++) {
      before += files.get(i).pages().pages() - 2;
    }
    file = files.get(which);
    page = 0;
    windowPages = 0;
    head = PackedPage.head(0, false);
  }

  private void clear() {
    from = 0;
    next = 0;
    used = 0;
  }

  /** Advances to the next record; false after the last one of all files. */
  public boolean next() throws IOException {
    from = next;
    while (!parse()) {
      if (!more()) {
        return false;
      }
    }
    return true;
  }

  /** Reads the record at {@link #from} if its bytes are there, except those of a long value. */
  private boolean parse() throws IOException {
    int left = used - from;
    if (left < RecordFrame.SHORT) {
      return false;
    }
    int headLength = RecordFrame.SHORT;
    keyLength = bytes[from] & 0xFF;
    valueLength = bytes[from + 1] & 0xFF | (bytes[from + 2] & 0xFF) << 8;
    if (keyLength == 0 || valueLength > RecordFrame.SHORT_VALUE) {
      headLength = RecordFrame.headLengthAt(bytes, from);
      if (left < headLength) {
        return false;
      }
      long header = RecordFrame.header(bytes, from);
      if (header < 0) {
        throw corrupt(position(from), "a record", "other bytes");
      }
      keyLength = RecordFrame.keyLength(header);
      valueLength = RecordFrame.valueLength(header);
    }
    keyFrom = from + headLength;
    if (valueLength > LONG_VALUE) {
      return parseLong(headLength + keyLength);
    }
    next = keyFrom + keyLength + valueLength;
    return next <= used;
  }

  private boolean parseLong(int inline) throws IOException {
    int valueFrom = from + inline;
    if (valueFrom > used) {
      return false;
    }
    place = (long) number << OFFSET_BITS | position(valueFrom);
    next = valueFrom;
    skip(valueLength - (used - valueFrom));
    return true;
  }

  /**
   * Goes on after bytes that follow the current page, without reading pages that hold nothing else.
   */
  private void skip(long length) throws IOException {
    if (length <= 0) {
      throw corrupt(position(from), "a value that ends its page", "more records after it");
    }
    long further = (length - 1) / WHOLE;
    int rest = (int) (length - further * WHOLE);
    requireContinued();
    long last = page + 1 + further;
    if (last >= file.pages().pages() - 1) {
      throw corrupt(position(from), "the rest of a value", "the end of the file");
    }
    open(last);
    int offset = PackedPage.directory(PackedPage.bins(head)) + rest;
    if (offset > start(0)) {
      throw corrupt(last << Page.SHIFT, "the end of a value", "another bin");
    }
    int kept = next - from;
    System.arraycopy(bytes, from, bytes, 0, kept);
    keyFrom -= from;
    from = 0;
    next = kept;
    used = kept;
    append(offset);
  }

  /** Appends the records of the next page; false after the last one. */
  private boolean more() throws IOException {
    if (page + 1 >= file.pages().pages() - 1) {
      if (from < used || PackedPage.continues(head)) {
        throw corrupt(position(from), "the rest of a record", "the end of the file");
      }
      if (number + 1 == files.size()) {
        return false;
      }
      enter(number + 1);
      return true;
    }
    boolean continues = PackedPage.continues(head);
    if (from < used && !continues) {
      throw corrupt(position(from), "the rest of a record", "the end of its bin");
    }
    open(page + 1);
    int records = PackedPage.directory(PackedPage.bins(head));
    if (!continues && start(0) != records) {
      throw corrupt(page << Page.SHIFT, "a page that starts with a bin", "the rest of another");
    }
    append(records);
    return true;
  }

  private void requireContinued() throws CorruptDatabaseException {
    if (!PackedPage.continues(head)) {
      throw corrupt(position(from), "the rest of a record", "the end of its bin");
    }
  }

  /** Appends the records of the current page from an offset on. */
  private void append(int offset) throws CorruptDatabaseException {
    int end = start(PackedPage.bins(head));
    if (offset < PackedPage.LEAST_START || offset > end || end > Page.PAYLOAD) {
      throw corrupt(
          page << Page.SHIFT, "records within the page", "bytes " + offset + " to " + end);
    }
    int length = end - offset;
    if (bytes.length - used < length) {
      int kept = used - from;
      byte[] target = bytes.length - kept < length ? new byte[2 * (kept + length)] : bytes;
      System.arraycopy(bytes, from, target, 0, kept);
      bytes = target;
      keyFrom -= from;
      next -= from;
      from = 0;
      used = kept;
    }
    window.buffer().get(base + offset, bytes, used, length);
    pageBytes = used;
    pageOffset = offset;
    used += length;
  }

  /** Loads a page of the current file. */
  private void open(long wanted) throws IOException {
    page = wanted;
    long inWindow = page - windowFirst;
    if (inWindow < 0 || inWindow >= windowPages) {
      long useful = Math.max(1, last - before - (page - 1) + 1);
      windowPages = (int) Math.min(Math.min(ahead, useful), file.pages().pages() - 1 - page);
      windowFirst = page;
      file.pages().read(page, windowPages, window);
      inWindow = 0;
    }
    base = window.offset() + ((int) inWindow << Page.SHIFT);
    head = window.buffer().getShort(base) & 0xFFFF;
    if (PackedPage.bins(head) > PackedPage.MOST_BINS) {
      throw corrupt(
          page << Page.SHIFT,
          "at most " + PackedPage.MOST_BINS + " bins",
          PackedPage.bins(head) + "");
    }
  }

  /** Where a bin starts in the current page; for the number of bins, where the records end. */
  private int start(int bin) {
    return start(window.buffer(), base, bin);
  }

  static int start(ByteBuffer buffer, int base, int bin) {
    return PackedPage.start(buffer.getShort(base + PackedPage.entry(bin)));
  }

  /** The byte offset in the file of bytes of the current page. */
  private long position(int at) {
    return (page << Page.SHIFT) + pageOffset + Math.max(0, at - pageBytes);
  }

  /** Holds the record: its frame and its key, followed by the value unless it is long. */
  public byte[] bytes() {
    return bytes;
  }

  /** Where the record starts. */
  public int from() {
    return from;
  }

  /** The number of bytes of the record that are there: all, except those of a long value. */
  public int inline() {
    return next - from;
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

  /** The place of a long value. */
  public long place() {
    return place;
  }

  /** Describes damage where the record is. */
  public CorruptDatabaseException corrupt(String expected, String found) {
    return corrupt(position(from), expected, found);
  }

  private CorruptDatabaseException corrupt(long offset, String expected, String found) {
    return file.corrupt(offset, expected, found);
  }

  /** Receives parts of a long value. */
  @FunctionalInterface
  public interface Parts {
    /** Receives the next bytes, which are valid until the call returns. */
    void take(byte[] part, int length) throws IOException;
  }

  /**
   * Reads a long value in parts.
   *
   * @param files the data files
   * @param place the {@link #place} of the value
   * @param skip how many of its first bytes to leave out
   * @param length the length of the value, with those bytes
   */
  public static void readLong(
      List<DataFile> files, long place, int skip, int length, Parts receiver) throws IOException {
    LongValueReader value = new LongValueReader(files, place, length);
    int leftOut = skip;
    for (int taken = value.next(); taken > 0; taken = value.next()) {
      int dropped = Math.min(leftOut, taken);
      leftOut -= dropped;
      if (dropped > 0) {
        System.arraycopy(value.bytes(), dropped, value.bytes(), 0, taken - dropped);
      }
      receiver.take(value.bytes(), taken - dropped);
    }
  }
}
