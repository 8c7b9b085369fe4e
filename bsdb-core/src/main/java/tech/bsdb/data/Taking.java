package tech.bsdb.data;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What becomes of a value that a lookup finds in one page of memory. Thread-safe.
 *
 * @param <T> what it becomes
 */
public interface Taking<T> {
  /**
   * Takes a value.
   *
   * @param buffer holds the value, from {@code at} on
   */
  T take(ByteBuffer buffer, int at, int length) throws IOException;

  /**
   * Returned if the lookup cannot tell: the page must be verified first, or the record is not a
   * short one in one page.
   */
  T unread();
}
