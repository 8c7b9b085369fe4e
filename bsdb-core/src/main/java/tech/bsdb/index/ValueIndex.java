package tech.bsdb.index;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Window;

/** Slot to value, in approximate mode: one read of one page. As thread-safe as its pages. */
public final class ValueIndex implements Closeable {
  private final CheckedPages pages;
  private final SlotPages slots;
  private final int width;
  private final PageCheck place;

  /**
   * An index over pages that it closes.
   *
   * @param width the most bytes kept of a value, 1 to 255
   * @param place names the file in messages
   */
  public ValueIndex(CheckedPages pages, int width, PageCheck place) {
    this.pages = pages;
    this.slots = new SlotPages(entryWidth(width));
    this.width = width;
    this.place = place;
  }

  /** Bytes of an entry: the length of the value, and the room for it. */
  public static int entryWidth(int width) {
    return width + 1;
  }

  /** The value in a slot, by one read into the window. */
  public byte[] value(long slot, Window window) throws IOException {
    long page = slots.page(slot);
    pages.read(page, 1, window);
    ByteBuffer buffer = window.buffer();
    int at = slots.offset(slot, page);
    int length = buffer.get(window.offset() + at) & 0xFF;
    if (length > width) {
      throw place.corrupt(
          page * CheckedPages.PAGE + at,
          "a value of at most " + width + " bytes",
          length + " bytes");
    }
    byte[] value = new byte[length];
    buffer.get(window.offset() + at + 1, value);
    return value;
  }

  @Override
  public void close() throws IOException {
    pages.close();
  }
}
