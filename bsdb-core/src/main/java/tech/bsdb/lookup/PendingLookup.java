package tech.bsdb.lookup;

import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;

/**
 * A lookup that waits for a read. It is used again for the next one; it belongs to the thread that
 * drives its queue.
 *
 * @param <R> what the lookup is for
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
