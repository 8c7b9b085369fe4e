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
  private final long buckets;
  private final long keys;
  private final ByteArrayList table = new ByteArrayList();
  private final byte[] page = new byte[Page.SIZE];
  private int inPage;

  /** The checksums of the pages so far. */
  private final IntArrayList checksums = new IntArrayList();

  private long addedBuckets;
  private long addedKeys;

  /**
   * Creates a writer.
   *
   * @param pages the encoder of the file's pages, still at its start
   * @param entryBytes how many bytes at the start of each solution's block go to the table instead
   * @param buckets the number of buckets
   * @param keys the number of keys
   */
  HashWriter(PageEncoder pages, int entryBytes, long buckets, long keys) {
    this.pages = pages;
    this.entryBytes = entryBytes;
    this.buckets = buckets;
    this.keys = keys;
  }

  /**
   * Appends the next bucket.
   *
   * @throws IllegalStateException if it is another bucket than the next
   */
  public void add(HashConstruction.Solution bucket) throws IOException {
    long first = bucket.first();
    if (first != addedKeys) {
      throw new IllegalStateException(
          "bucket " + addedBuckets + " starts at slot " + first + ", not " + addedKeys);
    }
    addedBuckets++;
    addedKeys += bucket.slots().length;
    byte[] block = bucket.block();
    table.addElements(table.size(), block, 0, entryBytes);
    put(block, entryBytes, block.length - entryBytes);
  }

  /**
   * Completes the function's pages.
   *
   * @throws IllegalStateException unless all buckets and keys were added
   */
  public void finish() throws IOException {
    if (addedBuckets != buckets || addedKeys != keys) {
      throw new IllegalStateException(
          addedKeys + " keys in " + addedBuckets + " buckets, not " + keys + " in " + buckets);
    }
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
