package tech.bsdb.index;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/** An array of entries indexed by slot. As thread-safe as its pages. */
public interface SlotIndex extends Closeable {
  /** Sets an extent to the page that contains the entry of a slot. */
  void locate(long slot, Extent extent);

  /**
   * Collects what a read of the entry of a slot will find.
   *
   * @param file the number of the index file in {@code touches}
   */
  void aim(long slot, Touches touches, int file);

  /** The index in memory; null if reads do not show memory. */
  @Nullable ShownFile shown();

  @Override
  void close() throws IOException;
}
