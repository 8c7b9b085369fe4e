package tech.bsdb.tools.serve;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.MemoryUse;

/**
 * How much of the served database is in memory, looked at every ten seconds at most: a look takes
 * the kernel milliseconds. Thread-safe.
 */
final class MemoryLook {
  private static final long KEPT_NANOS = 10_000_000_000L;

  private @Nullable Database of;
  private MemoryUse use = MemoryUse.NONE;
  private long nanos;

  /** What was so in the last ten seconds; nothing if the system does not tell. */
  @SuppressWarnings("ReferenceEquality") // is it the very database that is open?
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
