package tech.bsdb.index;

import tech.bsdb.format.Page;
import tech.bsdb.io.CheckedPages;

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

  /** Where the entry of a slot starts in the file, in bytes. */
  long position(long slot) {
    long page = page(slot);
    return (page << Page.SHIFT) + offset(slot, page);
  }

  /** Touches the entries of slots in a file in memory; none of a negative slot. */
  void touch(CheckedPages file, long[] slots, long[] scratch, int from, int to) {
    int count = 0;
    for (int i = from; i < to; i++) {
      if (slots[i] >= 0) {
        scratch[count++] = position(slots[i]);
      }
    }
    file.touch(scratch, count);
  }

  /** The number of pages for {@code slots} slots. */
  long pages(long slots) {
    return (slots + perPage - 1) / perPage;
  }
}
