package tech.bsdb.index;

import java.nio.ByteBuffer;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;

/** Maps slots to record addresses, with one page read per lookup. As thread-safe as its pages. */
public final class AddressIndex {
  /** Bytes per entry. */
  public static final int WIDTH = Long.BYTES;

  private static final SlotPages SLOTS = new SlotPages(WIDTH);

  private final CheckedPages pages;

  /** Creates an index over pages, which the caller closes. */
  public AddressIndex(CheckedPages pages) {
    this.pages = pages;
  }

  /** The identity of the index file in its database. */
  public static FileIdentity identity() {
    return new FileIdentity(FileKind.INDEX, 0);
  }

  /**
   * The number of pages of an index file with the given number and width of entries, including
   * header and footer.
   */
  public static long pagesFor(long slots, int width) {
    return new SlotPages(width).pages(slots) + 2;
  }

  /** Receives the entries of an index. */
  @FunctionalInterface
  public interface Entries {
    /** Receives an entry. */
    void entry(long slot, long address);
  }

  /**
   * Passes all entries of one page to a receiver, in slot order.
   *
   * @param buffer contains the page, starting at {@code offset}
   * @param page the page number, between header and footer
   * @param slots the number of entries in the whole index
   */
  public static void forEach(
      ByteBuffer buffer, int offset, long page, long slots, Entries entries) {
    long first = (page - 1) * SLOTS.perPage();
    int count = (int) Math.min(SLOTS.perPage(), slots - first);
    for (int i = 0; i < count; i++) {
      entries.entry(first + i, buffer.getLong(offset + i * WIDTH));
    }
  }

  /** Sets an extent to the page that contains the entry of a slot. */
  public void locate(long slot, Extent extent) {
    extent.set(pages, SLOTS.page(slot), 1);
  }

  /** The record address in a slot whose page has been read. */
  public long address(long slot, Extent extent) {
    return extent.buffer().getLong(extent.offset() + SLOTS.offset(slot, extent.first()));
  }

  /** Where the entry of a slot is in the file, in bytes. */
  public long position(long slot) {
    return SLOTS.position(slot);
  }

  /** The pages of the file. */
  public CheckedPages pages() {
    return pages;
  }

  /**
   * Touches the entries of slots, in memory; none of a negative slot.
   *
   * @param scratch memory for as many numbers as there are slots
   */
  public void touch(long[] slots, long[] scratch, int from, int to) {
    SLOTS.touch(pages, slots, scratch, from, to);
  }
}
