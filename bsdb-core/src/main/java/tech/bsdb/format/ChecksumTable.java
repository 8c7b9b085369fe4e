package tech.bsdb.format;

/**
 * The place of the checksums in files whose pages are content from the first byte to the last
 * (FORMAT.md §5): a table in sealed pages after them.
 */
public final class ChecksumTable {
  /** Checksums per page of the table. */
  public static final int PER_PAGE = Page.PAYLOAD / Integer.BYTES;

  private ChecksumTable() {}

  /** Whether the files of a kind have such a table. */
  public static boolean isIn(FileKind kind) {
    return kind == FileKind.HASH;
  }

  /** The number of pages of a file with {@code bodyPages} pages of content. */
  public static long filePages(long bodyPages) {
    return bodyPages + (bodyPages + PER_PAGE - 1) / PER_PAGE + 2;
  }

  /** The first page of the table in a file of {@code pages} pages. */
  public static long firstPage(long pages) {
    long between = pages - 2;
    return 1 + between - (between + PER_PAGE) / (PER_PAGE + 1);
  }
}
