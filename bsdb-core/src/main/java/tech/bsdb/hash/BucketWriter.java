package tech.bsdb.hash;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;

/**
 * Writes the blocks of a function and the table of their pages' checksums (FORMAT.md §5). Holds a
 * 4-byte checksum in memory for each page of the function until the end. Not thread-safe.
 */
final class BucketWriter implements HashWriter {
  private final PageEncoder pages;
  private final long buckets;
  private final long keys;
  private final byte[] page = new byte[Page.SIZE];
  private final ByteBuffer words = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
  private final IntArrayList checksums = new IntArrayList();
  private long addedBuckets;
  private long addedKeys;

  /** Creates a writer for a function of {@code keys} keys in {@code buckets} buckets. */
  BucketWriter(PageEncoder pages, long buckets, long keys) {
    this.pages = pages;
    this.buckets = buckets;
    this.keys = keys;
  }

  @Override
  public void add(HashConstruction.Solution bucket) throws IOException {
    long first = bucket.block()[0] & BucketLayout.SLOT_MASK;
    if (first != addedKeys) {
      throw new IllegalStateException(
          "bucket " + addedBuckets + " starts at slot " + first + ", not " + addedKeys);
    }
    addedBuckets++;
    addedKeys += bucket.slots().length;
    for (long word : bucket.block()) {
      put(word);
    }
  }

  /** Writes the table of checksums, which follows the buckets. */
  @Override
  public void finish() throws IOException {
    if (addedBuckets != buckets || addedKeys != keys) {
      throw new IllegalStateException(
          addedKeys + " keys in " + addedBuckets + " buckets, not " + keys + " in " + buckets);
    }
    while (words.position() != 0) {
      put(0);
    }
    byte[] four = new byte[Integer.BYTES];
    for (int i = 0; i < checksums.size(); i++) {
      ByteBuffer.wrap(four).order(ByteOrder.LITTLE_ENDIAN).putInt(checksums.getInt(i));
      pages.put(four, 0, four.length);
    }
    pages.pad();
  }

  private void put(long word) throws IOException {
    words.putLong(word);
    if (!words.hasRemaining()) {
      checksums.add(pages.putUnsealed(page, 0));
      words.clear();
    }
  }
}
