package tech.bsdb.index;

import tech.bsdb.format.Page;

/**
 * Locates slots in the index file (FORMAT.md §7): entries of fixed width, as many whole entries per
 * page as fit, starting at page 1.
 */
final class SlotPages {
  private final int width;
  private final int perPage;
  private final long reciprocal;

  /** Creates an instance for entries of {@code width} bytes, 1 to 256. */
  SlotPages(int width) {
    this.width = width;
    this.perPage = Page.PAYLOAD / width;
    this.reciprocal = Long.divideUnsigned(-1L, perPage) + 1;
  }

  /** Entries per page. */
  int perPage() {
    return perPage;
  }

  /**
   * The page of a slot below 2^40. Multiplies instead of dividing: with the reciprocal rounded up,
   * the result is exact while slot * perPage is below 2^64.
   */
  long page(long slot) {
    return 1 + Math.multiplyHigh(slot, reciprocal);
  }

  /** The offset of a slot in its page, in bytes. */
  int offset(long slot, long page) {
    return (int) (slot - (page - 1) * perPage) * width;
  }

  /** The number of pages for {@code slots} slots. */
  long pages(long slots) {
    return (slots + perPage - 1) / perPage;
  }
}
