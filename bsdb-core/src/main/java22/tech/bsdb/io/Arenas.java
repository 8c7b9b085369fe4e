package tech.bsdb.io;

import java.lang.foreign.Arena;
import java.util.concurrent.locks.LockSupport;

/** Ends shared arenas. There is no class of this name for Java 17. */
final class Arenas {
  private static final long PAUSE_NANOS = 1_000_000;

  private Arenas() {}

  /**
   * Closes an arena, unless that has been done. Any use of its memory, on any thread, throws an
   * {@link IllegalStateException} from then on. Waits while a channel or native code uses it, which
   * an arena refuses to interrupt.
   */
  static void close(Arena arena) {
    while (arena.scope().isAlive()) {
      try {
        arena.close();
      } catch (IllegalStateException e) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
