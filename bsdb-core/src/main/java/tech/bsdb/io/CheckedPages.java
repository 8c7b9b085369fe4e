package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a file, each verified when it is first touched, or at every read where the bytes
 * come from the device each time. As thread-safe as its source.
 */
public final class CheckedPages implements Closeable {
  /** Verifies one page. */
  @FunctionalInterface
  public interface Check {
    /**
     * Fails if the page that starts at {@code offset} of the window's buffer is not page {@code
     * number} as written. May take the window's {@link Window#crc32c}.
     */
    void check(Window window, int offset, long number) throws IOException;
  }

  /** Bytes of a page. */
  public static final int PAGE = PageSource.PAGE;

  private final PageSource source;
  private final @Nullable Check check;
  private final TouchedPages touched;
  private final long pages;
  private final boolean everyRead;
  private final boolean loaded;
  private final @Nullable ReadCount reads;

  /**
   * Takes over a source whose pages are verified at their first touch.
   *
   * @param source the pages; closed with this
   * @param pages how many there are
   * @param check verifies a page, or null to trust all
   */
  public CheckedPages(PageSource source, long pages, @Nullable Check check) {
    this(source, pages, check, false, null);
  }

  /**
   * Takes over a source.
   *
   * @param source the pages; closed with this
   * @param pages how many there are
   * @param check verifies a page, or null to trust all
   * @param everyRead whether pages are verified at every read ({@link Engine#verifiesEveryRead}),
   *     else at their first touch
   * @param reads counts the reads, or null if the source shows memory or nobody asks
   */
  public CheckedPages(
      PageSource source,
      long pages,
      @Nullable Check check,
      boolean everyRead,
      @Nullable ReadCount reads) {
    this(source, pages, check, everyRead, reads, false);
  }

  private CheckedPages(
      PageSource source,
      long pages,
      @Nullable Check check,
      boolean everyRead,
      @Nullable ReadCount reads,
      boolean loaded) {
    this.source = source;
    this.pages = pages;
    this.check = check;
    this.everyRead = everyRead;
    this.loaded = loaded;
    this.reads = reads;
    this.touched = new TouchedPages(check == null || everyRead ? 0 : pages);
  }

  /**
   * Takes over a source whose pages were all brought into memory, and verified where that is
   * wanted, when it was opened.
   */
  public static CheckedPages loaded(PageSource source, long pages) {
    return new CheckedPages(source, pages, null, false, null, true);
  }

  /** The source, for a {@link ReadQueue}; what it gave must be {@link #verify verified} once. */
  public PageSource source() {
    return source;
  }

  /** Pages of the file. */
  public long pages() {
    return pages;
  }

  /** Shows {@code count} pages, 1 to {@link PageSource#MAX_RUN}, in the window; they must exist. */
  public void read(long first, int count, Window window) throws IOException {
    source.read(first, count, window);
    verify(first, count, window);
  }

  /**
   * Verifies pages that a queued read of the {@link #source} brought, so far as they need it, and
   * counts that read.
   *
   * @param first the first page
   * @param count how many
   * @param window where they are
   * @throws IOException as {@link Check#check} fails
   */
  public void verify(long first, int count, Window window) throws IOException {
    if (reads != null) {
      reads.add(count);
    }
    if (check != null) {
      for (int i = 0; i < count; i++) {
        if (everyRead || !touched.contains(first + i)) {
          check.check(window, window.offset + i * PageSource.PAGE, first + i);
          if (!everyRead) {
            touched.add(first + i);
          }
        }
      }
    }
  }

  /**
   * Whether all these pages were verified since the file was opened, so that they are probably in
   * memory. Always true of a file that was loaded; else always false where every read is verified,
   * or none. Costs no I/O.
   */
  public boolean touched(long first, int count) {
    if (check == null || everyRead) {
      return loaded;
    }
    for (int i = 0; i < count; i++) {
      if (!touched.contains(first + i)) {
        return false;
      }
    }
    return true;
  }

  /** As {@link PageSource#touch}. */
  public long touch(long position) {
    return source.touch(position);
  }

  @Override
  public void close() throws IOException {
    source.close();
  }
}
