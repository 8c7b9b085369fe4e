package tech.bsdb.index;

import java.io.Closeable;
import java.io.IOException;
import tech.bsdb.io.Extent;

/** An array of entries by slot. As thread-safe as its pages. */
public interface SlotIndex extends Closeable {
  /** Points at the page in which the entry of a slot stands. */
  void locate(long slot, Extent extent);

  /** Asks the memory for the entry of a slot; see {@link tech.bsdb.io.PageSource#touch}. */
  long touch(long slot);

  @Override
  void close() throws IOException;
}
