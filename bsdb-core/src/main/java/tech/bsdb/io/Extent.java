package tech.bsdb.io;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A window, and the run of pages of a file that it shows once they are read. */
public final class Extent extends Window {
  private @Nullable CheckedPages pages;
  private long first;
  private int count;

  /** Equals {@link #reads} if the last read into the window was that of these pages, verified. */
  private int ownRead = -1;

  /** Points at pages {@code first} to {@code first + count - 1}, without reading them. */
  @SuppressWarnings("ReferenceEquality") // storing a reference costs a barrier
  public void set(CheckedPages file, long firstPage, int pageCount) {
    if (pages != file) {
      pages = file;
    }
    first = firstPage;
    count = pageCount;
    ownRead = reads - 1;
  }

  /** The first page. */
  public long first() {
    return first;
  }

  /** The number of pages. */
  public int count() {
    return count;
  }

  private CheckedPages pages() {
    CheckedPages file = pages;
    if (file == null) {
      throw new IllegalStateException("the extent was not set");
    }
    return file;
  }

  /** Reads the pages and verifies them. */
  public void read() throws IOException {
    pages().read(first, count, this);
    ownRead = reads;
  }

  /**
   * Reads the pages and verifies them, unless the last read into the window was a {@link #read} of
   * them.
   */
  public void readOnce() throws IOException {
    if (ownRead != reads) {
      read();
    }
  }

  /** Whether all the pages have been read and verified since the file was opened. */
  public boolean touched() {
    return pages().touched(first, count);
  }

  /** Adds a read of the pages to a queue; {@link #verify} them once it has completed. */
  public void addTo(ReadQueue queue, int tag) {
    queue.add(pages().source(), first, count, this, tag);
  }

  /** Verifies the pages that a queued read fetched. */
  public void verify() throws IOException {
    pages().verify(first, count, this);
  }
}
