package tech.bsdb.data;

import java.io.IOException;
import java.util.List;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.io.Window;

/**
 * A long value of a database of the layout packed (FORMAT.md §12), read in parts, so that it is
 * never in memory as a whole. Verifies each page. Not thread-safe.
 */
public final class LongValueReader {
  private final DataFile file;
  private final long offset;
  private final Window window = new Window();
  private final byte[] bytes = new byte[Page.SIZE];

  /** The next page, the pages of the window from there on, and where the first of them starts. */
  private long page;

  private int ahead;
  private int base;

  /** Where the value starts in its first page; 0 for the pages after it. */
  private int from;

  private int left;

  /**
   * Creates a reader; reads nothing yet.
   *
   * @param files the data files; the caller closes them
   * @param place the {@link PackedStream#place} of the value
   * @param length the length of the value
   */
  public LongValueReader(List<DataFile> files, long place, int length) {
    this.file = files.get((int) (place >>> PackedStream.OFFSET_BITS));
    this.offset = place & (1L << PackedStream.OFFSET_BITS) - 1;
    this.page = offset >>> Page.SHIFT;
    this.from = (int) offset & Page.SIZE - 1;
    this.left = length;
  }

  /** Reads the next part, of at most a page, and returns its length; 0 at the end of the value. */
  public int next() throws IOException {
    int taken = 0;
    while (left > 0 && taken == 0) {
      if (ahead == 0) {
        readAhead();
      }
      int bins = PackedPage.bins(window.buffer().getShort(base) & 0xFFFF);
      int start = from > 0 ? from : PackedPage.directory(bins);
      int end = PackedStream.start(window.buffer(), base, from > 0 ? bins : 0);
      taken = Math.min(left, end - start);
      if (taken < 0 || end > Page.PAYLOAD || taken < left && bins > 0 && from == 0) {
        throw file.corrupt(page << Page.SHIFT, "the rest of a value", "another bin");
      }
      window.buffer().get(base + start, bytes, 0, taken);
      left -= taken;
      from = 0;
      page++;
      ahead--;
      base += Page.SIZE;
    }
    return taken;
  }

  private void readAhead() throws IOException {
    long last = file.pages().pages() - 2;
    int count = (int) Math.min(PackedStream.AHEAD, last - page + 1);
    count = Math.min(count, left / PackedStream.WHOLE + 2);
    if (count < 1) {
      throw file.corrupt(offset, "the rest of a value", "the end of the file");
    }
    file.pages().read(page, count, window);
    ahead = count;
    base = window.offset();
  }

  /** Holds the part that was read last, from its start; the caller may change it. */
  public byte[] bytes() {
    return bytes;
  }
}
