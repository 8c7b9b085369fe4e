package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A store under comparison: how it is built, and the ways in which it can be read. */
interface ComparedStore {
  /**
   * Builds the store of all records in an empty directory; when it returns, everything is written
   * and closed.
   */
  void build(Records records, Path directory) throws IOException;

  /**
   * The ways in which what was built can be read, for {@link #open}; by default one without a name.
   */
  default List<String> readings() {
    return List.of("");
  }

  /** Opens what was built. */
  Reader open(Path directory, String reading) throws IOException;

  /** Bytes of a value after which it is cut, as by an approximate database. */
  default int width() {
    return Integer.MAX_VALUE;
  }

  /** An open store, in the fastest way that it documents. For one thread. */
  interface Reader extends AutoCloseable {
    /** The value of a key in an array of the caller's own, or null if it is absent. */
    byte @Nullable [] get(byte[] key) throws IOException;

    /**
     * A reader of the same open store for another thread, closed before this one; it is this one if
     * that may be shared.
     */
    Reader forAnotherThread() throws IOException;

    @Override
    void close() throws IOException;
  }
}
