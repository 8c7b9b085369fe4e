package tech.bsdb.lookup;

import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;

/**
 * A lookup that waits for a read, reused by later lookups. Belongs to the thread that drives its
 * queue.
 *
 * @param <R> the type of the request
 */
final class PendingLookup<R> {
  final int tag;
  final Extent extent = new Extent();
  byte[] key = new byte[0];
  long slot;
  long address;
  boolean atRecord;
  @Nullable R request;
  int number;

  PendingLookup(int tag) {
    this.tag = tag;
  }
}
