package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;

/**
 * Reads the value at an address, in one of the layouts: the address determines the extent, whose
 * bytes hold the record. Thread-safe; each thread passes its own extent and scratch.
 */
public interface RecordReader extends Closeable {
  /**
   * Sets the extent to the pages that hold the record at an address, or the beginning of a large
   * one.
   *
   * @throws tech.bsdb.error.CorruptDatabaseException if no record can be at that address
   */
  void locate(long address, Extent extent) throws IOException;

  /** Prefetches a record; see {@link tech.bsdb.io.PageSource#touch}. */
  long touch(long address) throws IOException;

  /**
   * Whether the pages read hold the whole record; {@link #decode} reads further pages of a larger
   * one.
   */
  boolean holds(long address, Extent extent) throws IOException;

  /**
   * Decodes the value of the record at an address, if the record has the given key.
   *
   * @param extent the record's pages, already read
   * @param values receives the value
   * @return the array that holds the value, or null if the record there has another key
   * @throws tech.bsdb.error.CorruptDatabaseException if there is no record at the address or the
   *     record is damaged
   */
  byte @Nullable [] decode(long address, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException;

  @Override
  void close() throws IOException;
}
