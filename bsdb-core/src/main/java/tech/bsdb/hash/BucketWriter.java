package tech.bsdb.hash;

import java.io.IOException;
import tech.bsdb.format.PageEncoder;

/** Writes the blocks of a function (FORMAT.md §5). Not thread-safe. */
final class BucketWriter implements HashWriter {
  private final BodyWriter body;
  private final long buckets;
  private final long keys;
  private long addedBuckets;
  private long addedKeys;

  /** Creates a writer for a function of {@code keys} keys in {@code buckets} buckets. */
  BucketWriter(PageEncoder pages, long buckets, long keys) {
    this.body = new BodyWriter(pages);
    this.buckets = buckets;
    this.keys = keys;
  }

  @Override
  public void add(HashConstruction.Solution bucket) throws IOException {
    long first = bucket.first() & BucketLayout.SLOT_MASK;
    if (first != addedKeys) {
      throw new IllegalStateException(
          "bucket " + addedBuckets + " starts at slot " + first + ", not " + addedKeys);
    }
    addedBuckets++;
    addedKeys += bucket.slots().length;
    body.put(bucket.block(), 0, bucket.block().length);
  }

  @Override
  public void finish() throws IOException {
    if (addedBuckets != buckets || addedKeys != keys) {
      throw new IllegalStateException(
          addedKeys + " keys in " + addedBuckets + " buckets, not " + keys + " in " + buckets);
    }
    body.finish();
  }
}
