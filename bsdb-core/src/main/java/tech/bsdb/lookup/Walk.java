package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;

/** Iterates over records, in an order of its own. Not thread-safe. */
public interface Walk extends Closeable {
  /**
   * Advances to the next record.
   *
   * @return false at the end
   * @throws tech.bsdb.error.CorruptDatabaseException if bytes are damaged
   */
  boolean next() throws IOException;

  /** The key of the record. */
  byte[] key();

  /**
   * The value of the record.
   *
   * @throws IllegalStateException if the walk reads no values
   */
  byte[] value();

  /** Ends the walk. A second call does nothing. */
  @Override
  void close() throws IOException;
}
