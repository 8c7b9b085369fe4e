package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Taking;

/**
 * Single lookups in files that are in memory: a straight line from the key to the value, for
 * records of one page whose pages have been verified. Nothing is borrowed, and nothing allocated
 * but what {@link Taking} makes of the value, and the signature of a key of more than 16 bytes.
 * Thread-safe.
 *
 * <p>The files may be closed meanwhile, which lookups under way meet as some {@link
 * RuntimeException}; see {@link tech.bsdb.io.ShownFile}.
 */
/*
 * HotSpot reports a fault in a mapped page a little later than it happens: on Java 22 and newer, at the latest when a
 * compiled method returns; on older ones, see tech.bsdb.io.Faults. A method of more than 325 bytes of bytecode
 * (FreqInlineSize) is never inlined, so a fault never lets it return a value. StraightLineTest checks that each
 * implementation of get is as long.
 */
interface MemoryGet {
  /**
   * Looks up a key.
   *
   * @return what {@code taking} makes of the value or has for an unread one; null if the key is
   *     absent
   */
  <T> @Nullable T get(byte[] key, Taking<T> taking) throws IOException;
}
