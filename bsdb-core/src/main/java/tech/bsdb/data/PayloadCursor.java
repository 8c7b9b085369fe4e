package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Page;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * Reads the payload of consecutive pages of a data file as one stream of bytes, fetching pages as
 * needed. Not thread-safe.
 */
final class PayloadCursor extends RecordCursor {
  private DataFile file;
  private CheckedPages pages;
  private int ahead;
  private long windowFirst;
  private int windowPages;
  private long page;

  /**
   * Creates a cursor over a file.
   *
   * @param ahead bytes to read at once by default, at least 1
   */
  PayloadCursor(DataFile file, Window window, int ahead) {
    super(window);
    this.file = file;
    this.pages = file.pages();
    this.ahead = ahead;
    end = Page.PAYLOAD;
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
