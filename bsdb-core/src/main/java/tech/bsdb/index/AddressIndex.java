package tech.bsdb.index;

import java.io.IOException;
import java.nio.ByteBuffer;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.Window;

/** Slot to record address: one read of one page. As thread-safe as its pages. */
public final class AddressIndex implements SlotIndex {
  /** Bytes of an entry. */
  public static final int WIDTH = Long.BYTES;

  private static final SlotPages SLOTS = new SlotPages(WIDTH);

  private final CheckedPages pages;

  /** An index over pages that it closes. */
  public AddressIndex(CheckedPages pages) {
    this.pages = pages;
  }

  /** The index file among those of its database. */
  public static FileIdentity identity() {
    return new FileIdentity(FileKind.INDEX, 0);
  }

  /** Pages of an index file of that many entries of that width, header and footer included. */
  public static long pagesFor(long slots, int width) {
    return new SlotPages(width).pages(slots) + 2;
  }

  /** Takes the entries of an index. */
  @FunctionalInterface
  public interface Entries {
    /** Takes one entry. */
    void entry(long slot, long address);
  }

  /**
   * Shows all entries of one page, in the order of their slots.
   *
   * @param buffer holds the page, from {@code offset} on
   * @param page its number, between header and footer
   * @param slots entries of the whole index
   */
  public static void forEach(
      ByteBuffer buffer, int offset, long page, long slots, Entries entries) {
    long first = (page - 1) * SLOTS.perPage();
    int count = (int) Math.min(SLOTS.perPage(), slots - first);
    for (int i = 0; i < count; i++) {
      entries.entry(first + i, buffer.getLong(offset + i * WIDTH));
    }
  }

  @Override
  public void locate(long slot, Extent extent) {
    extent.set(pages, SLOTS.page(slot), 1);
  }

  /** The address of the record in a slot, whose page was read. */
  public long address(long slot, Extent extent) {
    Window window = extent.window();
    return window.buffer().getLong(window.offset() + SLOTS.offset(slot, extent.first()));
  }

  @Override
  public long touch(long slot) {
    long page = SLOTS.page(slot);
    return pages.touch(page * CheckedPages.PAGE + SLOTS.offset(slot, page));
  }

  @Override
  public void close() throws IOException {
    pages.close();
  }
}
