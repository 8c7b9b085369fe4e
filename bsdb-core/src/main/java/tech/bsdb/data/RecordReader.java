package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Address to value, in one of the layouts. Thread-safe; each thread brings its own scratch. */
public interface RecordReader extends Closeable {
  /**
   * The value of the record at an address, if it is the key's.
   *
   * @return the value, or null if the record there has another key
   * @throws tech.bsdb.format.CorruptDatabaseException if there is no record at the address, or it
   *     is damaged
   */
  byte @Nullable [] read(long address, byte[] key, Scratch scratch) throws IOException;

  @Override
  void close() throws IOException;
}
