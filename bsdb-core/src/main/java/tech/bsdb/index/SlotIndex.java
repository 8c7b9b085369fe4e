package tech.bsdb.index;

import java.io.Closeable;
import java.io.IOException;
import tech.bsdb.io.Extent;

/** An array of entries indexed by slot. As thread-safe as its pages. */
public interface SlotIndex extends Closeable {
  /** Sets an extent to the page that contains the entry of a slot. */
  void locate(long slot, Extent extent);

  /** Loads the cache line of the entry of a slot; see {@link tech.bsdb.io.PageSource#touch}. */
  long touch(long slot);

  @Override
  void close() throws IOException;
}
