package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a file, verified at their first touch, or at every read where each read goes to the
 * device. As thread-safe as its source.
 */
public final class CheckedPages implements Closeable {
  /** Verifies single pages of one file. */
  @FunctionalInterface
  public interface Check {
    /**
     * Verifies the page at {@code offset} of the window's buffer. May use {@link Window#crc32c}.
     *
     * @param number the page's number in the file
     * @return the page's checksum, for the file's digest
     * @throws IOException unless it is that page as written
     */
    int check(Window window, int offset, long number) throws IOException;
  }

  /** Bytes of a page. */
  public static final int PAGE = PageSource.PAGE;

  private static final int SHIFT = 12;
  private static final ByteBuffer[] NOT_SHOWN = {};

  private final PageSource source;
  private final ByteBuffer[] pieces;
  private final @Nullable Check check;
  private final TouchedPages touched;
  private final long pages;
  private final boolean everyRead;
  private final boolean loaded;
  private final @Nullable ReadCount reads;

  /**
   * Takes over a source and verifies its pages at their first touch.
   *
   * @param source the pages; closed with this
   * @param pages the number of pages
   * @param check verifies a page, or null to trust all
   */
  public CheckedPages(PageSource source, long pages, @Nullable Check check) {
    this(source, pages, check, false, null);
  }

  /**
   * Takes over a source.
   *
   * @param source the pages; closed with this
   * @param pages the number of pages
   * @param check verifies a page, or null to trust all
   * @param everyRead whether to verify pages at every read ({@link Engine#verifiesEveryRead})
   *     rather than at their first touch
   * @param reads counts the reads, or null if the source shows memory or no count is needed
   */
  public CheckedPages(
      PageSource source,
      long pages,
      @Nullable Check check,
      boolean everyRead,
      @Nullable ReadCount reads) {
    this.source = source;
    ShownFile shown = source instanceof ShownFile file ? file : null;
    this.pieces = shown == null ? NOT_SHOWN : shown.pieces();
    this.pages = pages;
    this.check = check;
    this.everyRead = everyRead;
    this.loaded = shown != null && shown.isLoaded();
    this.reads = reads;
    this.touched = new TouchedPages(check == null || everyRead ? 0 : pages);
  }

  /** The source, for a {@link ReadQueue}; pages read this way must be passed to {@link #verify}. */
  public PageSource source() {
    return source;
  }

  /** The number of pages in the file. */
  public long pages() {
    return pages;
  }

  /**
   * Reads {@code count} existing pages, 1 to {@link PageSource#MAX_RUN}, into the window and
   * verifies them.
   */
  public void read(long first, int count, Window window) throws IOException {
    window.reads++;
    source.read(first, count, window);
    verify(first, count, window);
  }

  /** Takes note that pages will be read soon, in their order; see {@link PageSource#soon}. */
  public void soon(long first, long count) {
    source.soon(first, count);
  }

  /**
   * Verifies those pages of a queued read of the {@link #source} that need it, and counts the read.
   *
   * @param first the first page
   * @param count how many
   * @param window where they are
   * @throws IOException if {@link Check#check} fails
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
   * Whether all these pages have been verified since the file was opened and are thus probably in
   * memory. Always true for a loaded file; otherwise always false where every read or no read is
   * verified. Does no I/O.
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

  /**
   * The buffer that shows a page of a file in memory, at its {@link ShownFile#offset}; null if the
   * page must be read and verified first, or the file is closed.
   */
  public @Nullable ByteBuffer known(long page) {
    return isKnown(page) ? pieces[ShownFile.piece(page << SHIFT)] : null;
  }

  /** Whether a page of a file in memory needs no verification. */
  public boolean isKnown(long page) {
    return check == null || touched.contains(page);
  }

  /** Loads a cache line at each of some positions of a file in memory; see {@link Touches}. */
  public void touch(long[] positions, int count) {
    Touches.load(pieces, positions, count);
  }

  /** The pieces of a file in memory; see {@link ShownFile}. */
  public List<ByteBuffer> pieces() {
    return Arrays.asList(pieces);
  }

  /** Whether the file is in memory. */
  public boolean isShown() {
    return pieces.length > 0;
  }

  @Override
  public void close() throws IOException {
    source.close();
  }
}
