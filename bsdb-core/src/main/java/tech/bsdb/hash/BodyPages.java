package tech.bsdb.hash;

import java.io.IOException;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * Verifies the pages of a function's file: those of the body against the table of checksums that
 * follows it, all others against their own checksum (FORMAT.md §5).
 */
final class BodyPages implements HashKind.PageVerifier {
  private final PageSource source;
  private final PageCheck check;
  private final long tablePage;
  private final Window table = new Window();

  /** The page of the table that the window shows, or 0. */
  private long shown;

  /** Creates a verifier for a file of {@code pages} pages. */
  BodyPages(long pages, PageSource source, PageCheck check) {
    this.source = source;
    this.check = check;
    this.tablePage = ChecksumTable.firstPage(pages);
  }

  @Override
  public int verify(Window window, int offset, long number) throws IOException {
    if (number == 0 || number >= tablePage) {
      return check.check(window.buffer(), offset, number);
    }
    long index = number - 1;
    long page = tablePage + index / ChecksumTable.PER_PAGE;
    if (page != shown) {
      source.read(page, 1, table);
      shown = page;
    }
    int at = table.offset() + (int) (index % ChecksumTable.PER_PAGE) * Integer.BYTES;
    int stored = table.buffer().getInt(at);
    check.check(window.crc32c(offset, Page.SIZE), stored, number);
    return stored;
  }
}
