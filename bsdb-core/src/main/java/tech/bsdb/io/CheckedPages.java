package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The pages of a file, each verified when it is first touched. As thread-safe as its source. */
public final class CheckedPages implements Closeable {
  /** Verifies one page. */
  @FunctionalInterface
  public interface Check {
    /**
     * Fails if the page that starts at {@code offset} of the buffer is not page {@code number} as
     * written.
     */
    void check(ByteBuffer buffer, int offset, long number) throws IOException;
  }

  /** Bytes of a page. */
  public static final int PAGE = PageSource.PAGE;

  private final PageSource source;
  private final @Nullable Check check;
  private final TouchedPages touched;
  private final long pages;

  /**
   * Takes over a source.
   *
   * @param source the pages; closed with this
   * @param pages how many there are
   * @param check verifies a page at its first touch, or null to trust all
   */
  public CheckedPages(PageSource source, long pages, @Nullable Check check) {
    this.source = source;
    this.pages = pages;
    this.check = check;
    this.touched = new TouchedPages(check == null ? 0 : pages);
  }

  /** Pages of the file. */
  public long pages() {
    return pages;
  }

  /** Shows {@code count} pages, 1 to {@link PageSource#MAX_RUN}, in the window; they must exist. */
  public void read(long first, int count, Window window) throws IOException {
    source.read(first, count, window);
    if (check != null) {
      for (int i = 0; i < count; i++) {
        if (!touched.contains(first + i)) {
          check.check(window.buffer, window.offset + i * PageSource.PAGE, first + i);
          touched.add(first + i);
        }
      }
    }
  }

  @Override
  public void close() throws IOException {
    source.close();
  }
}
