package tech.bsdb.io;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A run of pages of a file, and the window that shows them once read. Used by one thread at a time.
 */
public final class Extent {
  private @Nullable CheckedPages pages;
  private long first;
  private int count;
  private final Window window = new Window();

  /** Which pages the window shows, if nothing was read into it since. */
  private @Nullable CheckedPages shownPages;

  private long shownFirst;
  private int shownCount;
  private int shownRead;

  /** Points at pages {@code first} to {@code first + count - 1}, without reading them. */
  @SuppressWarnings("ReferenceEquality") // storing a reference costs a barrier
  public void set(CheckedPages pages, long first, int count) {
    if (this.pages != pages) {
      this.pages = pages;
    }
    this.first = first;
    this.count = count;
  }

  /** The first page. */
  public long first() {
    return first;
  }

  /** The number of pages. */
  public int count() {
    return count;
  }

  /** The window that shows the pages once they are read. */
  public Window window() {
    return window;
  }

  private CheckedPages pages() {
    CheckedPages set = pages;
    if (set == null) {
      throw new IllegalStateException("the extent was not set");
    }
    return set;
  }

  /** Releases the window's memory if it exceeds {@code most} bytes; the extent is then unset. */
  public void trim(int most) {
    if (window.trim(most)) {
      pages = null;
    }
  }

  /** Reads the pages and verifies them. */
  public void read() throws IOException {
    pages().read(first, count, window);
  }

  /**
   * Reads the pages and verifies them, unless the last call did that and the window still shows
   * them. Between two calls, nothing but reads may change the window.
   */
  @SuppressWarnings("ReferenceEquality") // identity is meant
  public void readOnce() throws IOException {
    if (pages != shownPages
        || first != shownFirst
        || count != shownCount
        || window.reads != shownRead) {
      shownPages = null;
      read();
      shownPages = pages;
      shownFirst = first;
      shownCount = count;
      shownRead = window.reads;
    }
  }

  /** Makes the next {@link #readOnce} read. */
  public void forget() {
    shownPages = null;
  }

  /** Whether all the pages have been read and verified since the file was opened. */
  public boolean touched() {
    return pages().touched(first, count);
  }

  /** Adds a read of the pages to a queue; {@link #verify} them once it has completed. */
  public void addTo(ReadQueue queue, int tag) {
    queue.add(pages().source(), first, count, window, tag);
  }

  /** Verifies the pages that a queued read fetched. */
  public void verify() throws IOException {
    pages().verify(first, count, window);
  }
}
