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
 * has one, the table of the buckets from the next page boundary on (FORMAT.md §5, §13). Holds the
 * table in memory until the end. Not thread-safe.
 */
public final class HashWriter {
  private final BodyWriter body;
  private final int entryBytes;
  private final long buckets;
  private final long keys;
  private final ByteArrayList table = new ByteArrayList();
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
    this.body = new BodyWriter(pages);
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
    body.put(block, entryBytes, block.length - entryBytes);
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
    body.pad();
    body.put(table.elements(), 0, table.size());
    body.finish();
  }

  /**
   * Writes the body of a hash function's file and the table of its pages' checksums (FORMAT.md §5).
   * Holds a 4-byte checksum in memory for each page until the end. Not thread-safe.
   */
  private static final class BodyWriter {
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
}
