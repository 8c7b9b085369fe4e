package tech.bsdb.index;

import tech.bsdb.format.Page;

/**
 * Where a slot stands in the index file (FORMAT.md §7): entries of one width, as many whole ones to
 * a page as fit, from page 1 on.
 */
final class SlotPages {
  private final int width;
  private final int perPage;
  private final long reciprocal;

  /** For entries of that many bytes, 1 to 256. */
  SlotPages(int width) {
    this.width = width;
    this.perPage = Page.PAYLOAD / width;
    this.reciprocal = Long.divideUnsigned(-1L, perPage) + 1;
  }

  /** Entries in a page. */
  int perPage() {
    return perPage;
  }

  /**
   * The page of a slot below 2^40. A multiplication in place of a division: with the reciprocal
   * rounded up, the result is exact while slot * perPage is below 2^64.
   */
  long page(long slot) {
    return 1 + Math.multiplyHigh(slot, reciprocal);
  }

  /** Where in its page the slot stands, in bytes. */
  int offset(long slot, long page) {
    return (int) (slot - (page - 1) * perPage) * width;
  }

  /** Pages for that many slots. */
  long pages(long slots) {
    return (slots + perPage - 1) / perPage;
  }
}
