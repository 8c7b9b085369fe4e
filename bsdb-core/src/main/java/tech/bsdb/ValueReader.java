package tech.bsdb;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a value in place; see {@link Database#read}.
 *
 * @param <R> what the reader makes of a value
 */
@FunctionalInterface
public interface ValueReader<R> {
  /**
   * Reads a value.
   *
   * @param value the whole value, from position 0 to the limit, possibly of length 0. Read-only, in
   *     the default byte order of buffers, big-endian. Valid only during this call
   * @return what {@link Database#read} returns
   * @throws IOException if the reader fails; the caller of {@link Database#read} receives it
   *     unchanged, like any other exception
   */
  @Nullable R read(ByteBuffer value) throws IOException;
}
