package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;

/**
 * Address to value, in one of the layouts: the address tells the extent, and the bytes of the
 * extent the value. Thread-safe; each thread brings its own extent and scratch.
 */
public interface RecordReader extends Closeable {
  /**
   * Points at the pages that hold the record at an address, or its beginning if it is a large one.
   *
   * @throws tech.bsdb.error.CorruptDatabaseException if no record can be there
   */
  void locate(long address, Extent extent) throws IOException;

  /** Asks the memory for a record; see {@link tech.bsdb.io.PageSource#touch}. */
  long touch(long address) throws IOException;

  /**
   * Whether the pages that were read hold the whole record; {@link #decode} reads on for one that
   * is larger.
   */
  boolean holds(long address, Extent extent) throws IOException;

  /**
   * The value of the record at an address, if it is the key's.
   *
   * @param extent its pages, which were read
   * @param values where the value goes
   * @return the array that holds the value, or null if the record there has another key
   * @throws tech.bsdb.error.CorruptDatabaseException if there is no record at the address, or it is
   *     damaged
   */
  byte @Nullable [] decode(long address, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException;

  @Override
  void close() throws IOException;
}
