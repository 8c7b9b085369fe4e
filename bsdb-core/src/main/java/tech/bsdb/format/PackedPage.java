package tech.bsdb.format;

/**
 * The directory at the start of a page of the packed layout (FORMAT.md §12): how many bins start in
 * the page, and where.
 *
 * <pre>
 *           offset  size  meaning
 *                0     2  bits 0..8: n, the number of bins that start in the page, 0 to 256;
 *                         bit 15: the records at the end continue in the next page
 *    2 + 2i, i &lt; n     2  bits 0..11: where bin i starts, in bytes from the start of the page;
 *                         bits 12..15: its filter
 *           2 + 2n     2  where the records of the page end
 * </pre>
 *
 * Records follow. Those between the directory and the first start continue a bin of an earlier
 * page. The filter of a bin tells most absent keys without a look at its records: it has the bit
 * {@link #filterBit} of every record. A filter of 0 says nothing.
 */
public final class PackedPage {
  /** The most bins that start in one page. */
  public static final int MOST_BINS = 256;

  /** The least offset in a page where records can start: behind the directory of no bin. */
  public static final int LEAST_START = 4;

  private static final int START_BITS = 12;
  private static final int START = (1 << START_BITS) - 1;
  private static final int FILTER = 0xF;
  private static final int COUNT = 0x1FF;
  private static final int CONTINUES = 0x8000;

  private PackedPage() {}

  /** The first field of a page. */
  public static int head(int bins, boolean continues) {
    return continues ? bins | CONTINUES : bins;
  }

  /** The number of bins that start in a page, from its first field. */
  public static int bins(int head) {
    return head & COUNT;
  }

  /** Whether the records at the end continue in the next page, from the first field. */
  public static boolean continues(int head) {
    return (head & CONTINUES) != 0;
  }

  /** The offset of a bin's directory entry. The entry after it says where the bin ends. */
  public static int entry(int bin) {
    return 2 + 2 * bin;
  }

  /** A directory entry. */
  public static int entry(int start, int filter) {
    return filter << START_BITS | start;
  }

  /** Where a bin starts, from its directory entry and maybe more bits above it. */
  public static int start(int entry) {
    return entry & START;
  }

  /** The filter of a bin, from its directory entry and maybe more bits above it. */
  public static int filter(int entry) {
    return entry >>> START_BITS & FILTER;
  }

  /** The bit of a record in the filter of its bin, given the second half of its signature. */
  public static int filterBit(long low) {
    return 1 << filterBitNumber(low);
  }

  /** The number of that bit, 0 to 3. */
  public static int filterBitNumber(long low) {
    return (int) low & 3;
  }

  /**
   * Whether a bin can hold a record with the bit of a number in its filter, from its directory
   * entry and maybe more bits above it.
   */
  public static boolean mayHold(int entry, int filterBit) {
    int filter = filter(entry);
    return filter == 0 || (filter >>> filterBit & 1) != 0;
  }

  /** The length of the directory of {@code bins} bins, which is where records can start. */
  public static int directory(int bins) {
    return LEAST_START + 2 * bins;
  }
}
