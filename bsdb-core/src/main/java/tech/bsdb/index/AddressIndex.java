package tech.bsdb.index;

import java.io.Closeable;
import java.io.IOException;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Window;

/** Slot to record address: one read of one page. As thread-safe as its pages. */
public final class AddressIndex implements Closeable {
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

  /** The address of the record in a slot, by one read into the window. */
  public long address(long slot, Window window) throws IOException {
    long page = SLOTS.page(slot);
    pages.read(page, 1, window);
    return window.buffer().getLong(window.offset() + SLOTS.offset(slot, page));
  }

  @Override
  public void close() throws IOException {
    pages.close();
  }
}
