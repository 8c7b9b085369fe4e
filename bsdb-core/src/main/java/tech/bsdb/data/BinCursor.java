package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * Reads the bins of a data file of the packed layout, each as one stream of bytes that skips the
 * directories of further pages, fetching pages as needed. Not thread-safe.
 */
final class BinCursor extends RecordCursor {
  private static final int OUTSIDE = -1;

  /** Bytes of a record in a page that holds nothing else. */
  private static final int WHOLE = Page.PAYLOAD - PackedPage.directory(0);

  private DataFile file;
  private CheckedPages pages;
  private int ahead = 1;
  private long windowFirst;
  private int windowPages;

  /** The current page, where it starts in the buffer, and its first field. */
  private long page;

  private int base;
  private int head;

  /** The bin among those that start in the page, or -1 in one that started earlier. */
  private int slot;

  private boolean continues;

  /** The page where the bins of the next range start. */
  private long endPage = Long.MAX_VALUE;

  /** Whether no bin of the range was found yet, and another one may fill its first pages. */
  private boolean within;

  /** Creates a cursor before the first bin of a file. */
  BinCursor(DataFile file, Window window, int ahead) {
    super(window);
    this.file = file;
    this.pages = file.pages();
    this.ahead = ahead;
    this.slot = OUTSIDE;
  }

  /**
   * Moves to a bin whose extent has been read.
   *
   * @param number the bin's number among those that start in the first page
   * @param further pages to read at once beyond the extent
   */
  void over(DataFile file, Extent extent, int number, int further) throws IOException {
    this.file = file;
    this.pages = file.pages();
    this.window = extent.window();
    this.ahead = further;
    this.windowFirst = extent.first();
    this.windowPages = extent.count();
    open(extent.first());
    if (number >= PackedPage.bins(head)) {
      throw corrupt(position(), "bin " + number, "a page of " + PackedPage.bins(head) + " bins");
    }
    enter(number);
  }

  /** Limits this to the bins that start in some pages; called before the first. */
  void over(long firstPage, long endPage) {
    this.page = firstPage - 1;
    this.within = firstPage > 1;
    this.endPage = endPage;
  }

  /** Moves to the next bin; false if there is none. The current one must have been read whole. */
  boolean nextBin() throws IOException {
    long last = Math.min(endPage, pages.pages() - 1);
    if (page >= last) {
      return false; // the last bin ended there
    }
    while (page == 0 || slot + 1 >= PackedPage.bins(head)) {
      if (page + 1 >= last) {
        return false;
      }
      open(page + 1);
      slot = OUTSIDE;
      if (!within && start(0) != PackedPage.directory(PackedPage.bins(head))) {
        throw corrupt(page << Page.SHIFT, "a page that starts with a bin", "the rest of another");
      }
    }
    within = false;
    enter(slot + 1);
    return true;
  }

  /** The current page, 0 being the first that holds records. */
  long page() {
    return page - 1;
  }

  /** The bin's number among those that start in its first page, right after it was entered. */
  int slot() {
    return slot;
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
      slot = OUTSIDE;
      segment(PackedPage.directory(PackedPage.bins(head)), start(0));
      continues = PackedPage.bins(head) == 0 && PackedPage.continues(head);
    }
    return true;
  }

  @Override
  void expect(long bytes) throws CorruptDatabaseException {
    long left = (pages.pages() - 2 - page) * Page.PAYLOAD + Page.PAYLOAD - at;
    if (bytes > left) {
      throw corrupt(
          position(), bytes + " more bytes of a record", left + " bytes to the end of the file");
    }
  }

  /** Skips the next bytes, which are of one record, without reading pages that hold only them. */
  void skip(long length) throws IOException {
    long left = length;
    while (left > 0) {
      load();
      int part = (int) Math.min(left, end - at);
      at += part;
      left -= part;
      if (left > WHOLE && continues) {
        long further = (left - 1) / WHOLE;
        page += further;
        left -= further * WHOLE;
      }
    }
  }

  private void enter(int number) throws CorruptDatabaseException {
    slot = number;
    segment(start(number), start(number + 1));
    continues = number + 1 == PackedPage.bins(head) && PackedPage.continues(head);
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

  /** The filter of the bin that was just entered. */
  int filter() {
    return PackedPage.filter(entry(slot));
  }

  private int entry(int number) {
    return window.buffer().getShort(base + PackedPage.entry(number)) & 0xFFFF;
  }

  /** Loads a page and reads its first field. */
  private void open(long number) throws IOException {
    page = number;
    long inWindow = page - windowFirst;
    if (inWindow < 0 || inWindow >= windowPages) {
      windowPages = (int) Math.min(Math.min(ahead, PageSource.MAX_RUN), pages.pages() - 1 - page);
      windowFirst = page;
      pages.read(page, windowPages, window);
      inWindow = 0;
    }
    base = window.offset() + ((int) inWindow << Page.SHIFT);
    head = window.buffer().getShort(base) & 0xFFFF;
    at = 0;
    end = 0;
    if (PackedPage.bins(head) > PackedPage.MOST_BINS) {
      throw corrupt(
          page << Page.SHIFT,
          "at most " + PackedPage.MOST_BINS + " bins",
          PackedPage.bins(head) + "");
    }
  }

  @Override
  int load() throws IOException {
    if (at == end && !hasMore()) {
      throw corrupt(position(), "the rest of a record", "the end of its bin");
    }
    return base;
  }

  @Override
  long position() {
    return (page << Page.SHIFT) + at;
  }

  @Override
  CorruptDatabaseException corrupt(long offset, String expected, String found) {
    return file.corrupt(offset, expected, found);
  }
}
