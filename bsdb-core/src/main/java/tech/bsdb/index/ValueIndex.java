package tech.bsdb.index;

import java.io.IOException;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;

/**
 * Maps slots to values in approximate mode, with one page read per lookup. As thread-safe as its
 * pages.
 */
public final class ValueIndex {
  private final CheckedPages pages;
  private final SlotPages slots;
  private final int width;
  private final PageCheck place;

  /**
   * Creates an index over pages, which the caller closes.
   *
   * @param width the maximum number of bytes kept of a value, 1 to 255
   * @param place names the file in messages
   */
  public ValueIndex(CheckedPages pages, int width, PageCheck place) {
    this.pages = pages;
    this.slots = new SlotPages(entryWidth(width));
    this.width = width;
    this.place = place;
  }

  /** Bytes per entry: one for the length of the value, and {@code width} for the value. */
  public static int entryWidth(int width) {
    return width + 1;
  }

  /** Sets an extent to the page that contains the entry of a slot. */
  public void locate(long slot, Extent extent) {
    extent.set(pages, slots.page(slot), 1);
  }

  /** The length in bytes of the value in a slot whose page has been read. */
  public int length(long slot, Extent extent) throws IOException {
    int at = slots.offset(slot, extent.first());
    int length = extent.buffer().get(extent.offset() + at) & 0xFF;
    if (length == 0 && extent.buffer().getInt(extent.offset() + Page.PAYLOAD) == 0) {
      // An empty value, or a page that was zeroed after it was verified.
      place.check(extent.buffer(), extent.offset(), extent.first());
    }
    if (length > width) {
      throw place.corrupt(
          extent.first() * CheckedPages.PAGE + at,
          "a value of at most " + width + " bytes",
          length + " bytes");
    }
    return length;
  }

  /** Where the value in a slot whose page has been read starts in the buffer. */
  public int valueAt(long slot, Extent extent) {
    return extent.offset() + slots.offset(slot, extent.first()) + 1;
  }

  /**
   * Touches the entries of slots, in memory; none of a negative slot.
   *
   * @param scratch memory for as many numbers as there are slots
   */
  public void touch(long[] of, long[] scratch, int from, int to) {
    slots.touch(pages, of, scratch, from, to);
  }
}
