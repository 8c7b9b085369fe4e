package tech.bsdb.hash;

import java.io.IOException;

/** Writes the file of a hash function, bucket by bucket in order. Not thread-safe. */
public interface HashWriter {
  /**
   * Appends the next bucket.
   *
   * @throws IllegalStateException if it is another bucket than the next
   */
  void add(HashConstruction.Solution bucket) throws IOException;

  /**
   * Completes the function's pages.
   *
   * @throws IllegalStateException unless all buckets and keys were added
   */
  void finish() throws IOException;
}
