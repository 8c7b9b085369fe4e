package tech.bsdb.hash;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;

/**
 * Writes the body of a hash function's file and the table of its pages' checksums (FORMAT.md §5).
 * Holds a 4-byte checksum in memory for each page until the end. Not thread-safe.
 */
final class BodyWriter {
  private final PageEncoder pages;
  private final byte[] page = new byte[Page.SIZE];
  private final IntArrayList checksums = new IntArrayList();
  private int inPage;

  /** Creates a writer for pages whose encoder is still at its start. */
  BodyWriter(PageEncoder pages) {
    this.pages = pages;
  }

  /** Appends {@code length} bytes. */
  void put(byte[] bytes, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      int part = Math.min(length - done, Page.SIZE - inPage);
      System.arraycopy(bytes, offset + done, page, inPage, part);
      done += part;
      inPage += part;
      if (inPage == Page.SIZE) {
        checksums.add(pages.putUnsealed(page, 0));
        inPage = 0;
      }
    }
  }

  /** Fills the last page with zeros, if it has begun. */
  void pad() throws IOException {
    if (inPage > 0) {
      put(new byte[Page.SIZE - inPage], 0, Page.SIZE - inPage);
    }
  }

  /** Completes the body and writes the table of checksums. */
  void finish() throws IOException {
    pad();
    byte[] four = new byte[Integer.BYTES];
    for (int i = 0; i < checksums.size(); i++) {
      ByteBuffer.wrap(four).order(ByteOrder.LITTLE_ENDIAN).putInt(checksums.getInt(i));
      pages.put(four, 0, four.length);
    }
    pages.pad();
  }
}
