package tech.bsdb.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * Reads the payload of consecutive pages of a data file as one stream of bytes, fetching pages as
 * needed. Not thread-safe.
 */
final class PayloadCursor {
  private DataFile file;
  private CheckedPages pages;
  private Window window;
  private int ahead;
  private long windowFirst;
  private int windowPages;
  private long page;
  private int at;

  /**
   * Creates a cursor over a file.
   *
   * @param ahead bytes to read at once by default, at least 1
   */
  PayloadCursor(DataFile file, Window window, int ahead) {
    this.file = file;
    this.pages = file.pages();
    this.window = window;
    this.ahead = ahead;
  }

  /** Creates a cursor over a file whose extent has already been read. */
  PayloadCursor(DataFile file, Extent extent, int ahead) {
    this(file, extent.window(), ahead);
    windowFirst = extent.first();
    windowPages = extent.count();
  }

  /** Resets this to another file or extent, as if newly created. */
  void over(DataFile file, Extent extent, int ahead) {
    this.file = file;
    this.pages = file.pages();
    this.window = extent.window();
    this.ahead = ahead;
    windowFirst = extent.first();
    windowPages = extent.count();
    page = 0;
    at = 0;
  }

  /** Moves to a byte offset of the file. */
  void seek(long position) throws CorruptDatabaseException {
    page = position >>> Page.SHIFT;
    at = (int) position & Page.SIZE - 1;
    if (page < 1 || page >= pages.pages() - 1 || at >= Page.PAYLOAD) {
      throw file.corrupt(position, "a record", "an address outside of the records");
    }
  }

  /** The byte offset of the next payload byte. */
  long position() {
    return at == Page.PAYLOAD ? page + 1 << Page.SHIFT : (page << Page.SHIFT) + at;
  }

  /** The page of the byte before the cursor. */
  long lastPage() {
    return at == 0 ? page - 1 : page;
  }

  /** Payload bytes left in the current page, 1 to {@link Page#PAYLOAD}. */
  int room() {
    return at == Page.PAYLOAD ? Page.PAYLOAD : Page.PAYLOAD - at;
  }

  /** Moves to the start of the next page, unless already at the start of a page. */
  void skipPage() {
    if (at != 0 && at != Page.PAYLOAD) {
      at = Page.PAYLOAD;
    }
  }

  /** Fails unless that many bytes remain before the end of the file. */
  void expect(long bytes) throws CorruptDatabaseException {
    long left = (pages.pages() - 2 - page) * Page.PAYLOAD + Page.PAYLOAD - at;
    if (bytes > left) {
      throw file.corrupt(
          position(), bytes + " more bytes of a record", left + " bytes to the end of the file");
    }
  }

  /** Reads the next byte, 0 to 255. */
  int next() throws IOException {
    int base = load();
    return window.buffer().get(base + at++) & 0xFF;
  }

  /** Reads the next two-byte number. */
  int nextShort() throws IOException {
    int low = next();
    return low | next() << 8;
  }

  /** Reads the next four-byte number. */
  int nextInt() throws IOException {
    int low = nextShort();
    return low | nextShort() << 16;
  }

  /**
   * Reads the next record's header, from which {@link RecordFrame#keyLength} and {@link
   * RecordFrame#valueLength} extract the lengths; or {@link RecordFrame#PADDING}.
   *
   * @throws CorruptDatabaseException if the bytes are not a header, or the file ends within it
   */
  long nextHeader() throws IOException {
    long start = position();
    int keyLength = next();
    int valueLength = nextShort();
    long header = RecordFrame.decode(keyLength, valueLength);
    if (header == RecordFrame.IS_WIDE) {
      keyLength = nextShort();
      valueLength = nextInt();
      header = RecordFrame.decodeWide(keyLength, valueLength);
    }
    if (header == RecordFrame.INVALID) {
      throw file.corrupt(
          start,
          "a record",
          "a key of "
              + keyLength
              + " bytes and a value of "
              + Integer.toUnsignedString(valueLength));
    }
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
    throw file.corrupt(position(), "a number in LEB128", "more than nine bytes");
  }

  /** Copies the next bytes. */
  void read(byte[] target, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      int base = load();
      int part = Math.min(length - done, Page.PAYLOAD - at);
      window.buffer().get(base + at, target, offset + done, part);
      at += part;
      done += part;
    }
  }

  /** Skips the next bytes. */
  void skip(long length) {
    long to = at + length;
    page += to / Page.PAYLOAD;
    at = (int) (to % Page.PAYLOAD);
  }

  /** Whether the next bytes equal the key; if so, moves past them. */
  boolean matches(byte[] key) throws IOException {
    int done = 0;
    while (done < key.length) {
      int base = load();
      ByteBuffer buffer = window.buffer();
      int part = Math.min(key.length - done, Page.PAYLOAD - at);
      for (int i = 0; i < part; i++) {
        if (buffer.get(base + at + i) != key[done + i]) {
          return false;
        }
      }
      at += part;
      done += part;
    }
    return true;
  }

  /** Loads the page of the next byte and returns where it starts in the window's buffer. */
  private int load() throws IOException {
    if (at == Page.PAYLOAD) {
      page++;
      at = 0;
    }
    long inWindow = page - windowFirst;
    if (inWindow < 0 || inWindow >= windowPages) {
      load((at + ahead - 1) / Page.PAYLOAD + 1);
      inWindow = 0;
    }
    return window.offset() + ((int) inWindow << Page.SHIFT);
  }

  /** Reads {@code count} pages from the current one on, or fewer at the end of the file. */
  private void load(int count) throws IOException {
    long last = pages.pages() - 1;
    if (page >= last) {
      throw file.corrupt(page << Page.SHIFT, "the rest of a record", "the end of the file");
    }
    windowPages = (int) Math.min(Math.min(count, PageSource.MAX_RUN), last - page);
    windowFirst = page;
    pages.read(page, windowPages, window);
  }
}
