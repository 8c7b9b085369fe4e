package tech.bsdb.hash;

import it.unimi.dsi.fastutil.bytes.ByteArrayList;
import java.io.IOException;
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
}
