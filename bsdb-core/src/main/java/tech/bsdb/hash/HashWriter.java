package tech.bsdb.hash;

import it.unimi.dsi.fastutil.bytes.ByteArrayList;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;

/**
 * Writes the file of a hash function, bucket by bucket in order: the blocks, and, if the function
 * has one, the table of the buckets from the next page boundary on; then the table of the checksums
 * of these pages (FORMAT.md §5, §13). Holds both tables in memory until the end. Not thread-safe.
 */
public final class HashWriter {
  private final PageEncoder pages;
  private final int entryBytes;
  private final ByteArrayList table = new ByteArrayList();
  private final byte[] page = new byte[Page.SIZE];
  private int inPage;

  /** The checksums of the pages so far. */
  private final IntArrayList checksums = new IntArrayList();

  /**
   * Creates a writer.
   *
   * @param pages the encoder of the file's pages, still at its start
   * @param entryBytes how many bytes at the start of each solution's block go to the table instead
   */
  HashWriter(PageEncoder pages, int entryBytes) {
    this.pages = pages;
    this.entryBytes = entryBytes;
  }

  /** Appends the next bucket. */
  public void add(HashConstruction.Solution bucket) throws IOException {
    byte[] block = bucket.block();
    table.addElements(table.size(), block, 0, entryBytes);
    put(block, entryBytes, block.length - entryBytes);
  }

  /** Completes the function's pages after all buckets. */
  public void finish() throws IOException {
    pad();
    put(table.elements(), 0, table.size());
    pad();
    byte[] four = new byte[Integer.BYTES];
    for (int i = 0; i < checksums.size(); i++) {
      ByteBuffer.wrap(four).order(ByteOrder.LITTLE_ENDIAN).putInt(checksums.getInt(i));
      pages.put(four, 0, four.length);
    }
    pages.pad();
  }

  private void put(byte[] bytes, int offset, int length) throws IOException {
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
  private void pad() throws IOException {
    if (inPage > 0) {
      put(new byte[Page.SIZE - inPage], 0, Page.SIZE - inPage);
    }
  }
}
