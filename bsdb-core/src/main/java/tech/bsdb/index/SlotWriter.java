package tech.bsdb.index;

import java.io.IOException;
import tech.bsdb.format.PageEncoder;

/** Writes an index file in slot order. Not thread-safe. */
public final class SlotWriter {
  private final PageEncoder pages;
  private final int width;
  private final int perPage;
  private int inPage;

  /** Creates a writer of entries of {@code width} bytes. */
  public SlotWriter(PageEncoder pages, int width) {
    this.pages = pages;
    this.width = width;
    this.perPage = new SlotPages(width).perPage();
  }

  /** Appends {@code count} contiguous entries. */
  public void add(byte[] entries, int count) throws IOException {
    int done = 0;
    while (done < count) {
      int part = Math.min(count - done, perPage - inPage);
      pages.put(entries, done * width, part * width);
      done += part;
      inPage += part;
      if (inPage == perPage) {
        pages.pad();
        inPage = 0;
      }
    }
  }

  /** Pads the last page. */
  public void finish() throws IOException {
    pages.pad();
  }
}
