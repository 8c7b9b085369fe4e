package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.format.Page;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * Reads the payload of consecutive pages of a data file as one stream of bytes, fetching pages as
 * needed. A lookup's cursor reads what is {@link #expect expected} at once, as far as one read
 * goes, and nothing else. Not thread-safe.
 */
final class PayloadCursor extends RecordCursor {
  private DataFile file;
  private CheckedPages pages;
  private final int ahead;
  private final boolean scans;
  private long windowFirst;
  private int windowPages;
  private long page;

  /** The last page with bytes that a lookup expects. */
  private long expected;

  /**
   * Creates a cursor over a file that is read from start to end.
   *
   * @param ahead bytes to read at once, at least 1
   */
  PayloadCursor(DataFile file, Window window, int ahead) {
    this(file, window, ahead, true);
  }

  private PayloadCursor(DataFile file, Window window, int ahead, boolean scans) {
    super(window);
    this.file = file;
    this.pages = file.pages();
    this.ahead = ahead;
    this.scans = scans;
    end = Page.PAYLOAD;
  }

  /** Creates a lookup's cursor over a file whose extent has already been read. */
  PayloadCursor(DataFile file, Extent extent) {
    this(file, extent.window(), 1, false);
    windowFirst = extent.first();
    windowPages = extent.count();
  }

  /** Resets this to another file or extent, as if newly created. */
  void over(DataFile file, Extent extent) {
    this.file = file;
    this.pages = file.pages();
    this.window = extent.window();
    windowFirst = extent.first();
    windowPages = extent.count();
    page = 0;
    at = 0;
    expected = 0;
  }

  /** Moves to a byte offset of the file. */
  void seek(long position) throws CorruptDatabaseException {
    page = position >>> Page.SHIFT;
    at = (int) position & Page.SIZE - 1;
    if (page < 1 || page >= pages.pages() - 1 || at >= Page.PAYLOAD) {
      throw file.corrupt(position, "a record", "an address outside of the records");
    }
  }

  @Override
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

  @Override
  void expect(long bytes) throws CorruptDatabaseException {
    long left = (pages.pages() - 2 - page) * Page.PAYLOAD + Page.PAYLOAD - at;
    if (bytes > left) {
      throw file.corrupt(
          position(), bytes + " more bytes of a record", left + " bytes to the end of the file");
    }
    if (!scans) {
      expected = page + (at + bytes - 1) / Page.PAYLOAD;
    }
  }

  /**
   * Reserves the memory of the next read, if that is large and more than the window has.
   *
   * @throws MemoryBudgetExceededException if the budget has no room
   */
  void reserve(Values values) throws MemoryBudgetExceededException {
    long next = windowFirst + windowPages; // what is in the window is not read again
    long count = Math.min(expected - next + 1, PageSource.MAX_RUN);
    if (count > windowPages && count * Page.SIZE > Values.UNASKED) {
      values.reserve(count * Page.SIZE);
    }
  }

  /** Skips the next bytes. */
  void skip(long length) {
    long to = at + length;
    page += to / Page.PAYLOAD;
    at = (int) (to % Page.PAYLOAD);
  }

  @Override
  CorruptDatabaseException corrupt(long offset, String expected, String found) {
    return file.corrupt(offset, expected, found);
  }

  @Override
  int load() throws IOException {
    if (at == Page.PAYLOAD) {
      page++;
      at = 0;
    }
    long inWindow = page - windowFirst;
    if (inWindow < 0 || inWindow >= windowPages) {
      load(Math.max(expected - page + 1, (at + ahead - 1) / Page.PAYLOAD + 1));
      inWindow = 0;
    }
    return window.offset() + ((int) inWindow << Page.SHIFT);
  }

  /** Reads {@code count} pages from the current one on, or fewer at the end of the file. */
  private void load(long count) throws IOException {
    long last = pages.pages() - 1;
    if (page >= last) {
      throw file.corrupt(page << Page.SHIFT, "the rest of a record", "the end of the file");
    }
    windowPages = (int) Math.min(Math.min(count, PageSource.MAX_RUN), last - page);
    windowFirst = page;
    pages.read(page, windowPages, window);
  }
}
