package tech.bsdb.tools.serve;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.MemoryUse;

/**
 * Caches for ten seconds how much of the served database is in memory: each query takes the kernel
 * milliseconds. Thread-safe.
 */
final class CachedMemoryUse {
  private static final long KEPT_NANOS = 10_000_000_000L;

  private @Nullable Database of;
  private MemoryUse use = MemoryUse.NONE;
  private long nanos;

  /**
   * Returns the memory use, at most ten seconds old; {@link MemoryUse#NONE} if the system cannot
   * tell.
   */
  @SuppressWarnings("ReferenceEquality") // is it the same open database?
  synchronized MemoryUse at(Database database) {
    if (of != database || System.nanoTime() - nanos >= KEPT_NANOS) {
      try {
        use = database.memoryUse();
      } catch (IOException unknown) {
        use = MemoryUse.NONE;
      }
      of = database;
      nanos = System.nanoTime();
    }
    return use;
  }
}
