package tech.bsdb.io;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A run of pages of a file, and the window that shows them once they are read. Belongs to one
 * thread at a time.
 */
public final class Extent {
  private @Nullable CheckedPages pages;
  private long first;
  private int count;
  private final Window window = new Window();

  /** Points at pages {@code first} to {@code first + count - 1}, which are not read yet. */
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

  /** How many pages. */
  public int count() {
    return count;
  }

  /** Shows the pages, once they are read. */
  public Window window() {
    return window;
  }

  private CheckedPages pages() {
    CheckedPages set = pages;
    if (set == null) {
      throw new IllegalStateException("the extent points nowhere");
    }
    return set;
  }

  /** Lets go of memory of more than so many bytes, and points nowhere if it did. */
  public void trim(int most) {
    if (window.trim(most)) {
      pages = null;
    }
  }

  /** Reads the pages and verifies them. */
  public void read() throws IOException {
    pages().read(first, count, window);
  }

  /** Whether all the pages were read and verified since the file was opened. */
  public boolean touched() {
    return pages().touched(first, count);
  }

  /** Adds a read of the pages to a queue; when it has ended, {@link #verify} them. */
  public void addTo(ReadQueue queue, int tag) {
    queue.add(pages().source(), first, count, window, tag);
  }

  /** Verifies the pages that a queued read has brought. */
  public void verify() throws IOException {
    pages().verify(first, count, window);
  }
}
