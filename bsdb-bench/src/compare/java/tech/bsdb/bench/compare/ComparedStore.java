package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A store under comparison: how to build it, and the modes in which to read it. */
interface ComparedStore {
  /**
   * Builds the store of all records in an empty directory. On return, everything is written and
   * closed.
   */
  void build(Records records, Path directory) throws IOException;

  /** The read modes for {@link #open}; by default a single unnamed one. */
  default List<String> readings() {
    return List.of("");
  }

  /** Opens the built store. */
  Reader open(Path directory, String reading) throws IOException;

  /** The length in bytes to which values are truncated, as by an approximate database. */
  default int width() {
    return Integer.MAX_VALUE;
  }

  /** The number of keys that a read mode looks up together; 1 for single lookups. */
  default int batch(String reading) {
    return 1;
  }

  /** An open store, read in the fastest documented way. Not thread-safe. */
  interface Reader extends AutoCloseable {
    /** Returns the value of a key in a new array, or null if it is absent. */
    byte @Nullable [] get(byte[] key) throws IOException;

    /** Whether {@link #read} is supported. */
    default boolean hasReads() {
      return false;
    }

    /** Reads a value where it lies, without copying it, and returns its {@link ValueSum}. */
    default long read(byte[] key) throws IOException {
      throw new UnsupportedOperationException("reads in place");
    }

    /** Whether {@link #getBatch} and {@link #readBatch} are supported. */
    default boolean hasBatches() {
      return false;
    }

    /**
     * Looks up {@code keys[from]} to {@code keys[to - 1]} together and stores each value, or null,
     * at the same place in {@code values}.
     */
    default void getBatch(byte[][] keys, int from, int to, byte @Nullable [][] values)
        throws IOException {
      throw new UnsupportedOperationException("batches");
    }

    /**
     * Looks up {@code keys[from]} to {@code keys[to - 1]} together, reads the values where the
     * batch holds them, and returns the sum of their {@link ValueSum}s.
     */
    default long readBatch(byte[][] keys, int from, int to) throws IOException {
      throw new UnsupportedOperationException("batches");
    }

    /** Whether {@link #range} is supported. */
    default boolean hasRanges() {
      return false;
    }

    /**
     * Reads the records from a key on, in the order of the keys, into new arrays.
     *
     * @param from the first key
     * @param keys receives as many keys as it has places, or fewer at the end
     * @param values receives their values; null to read only keys
     * @return the number of records
     */
    default int range(byte[] from, byte[][] keys, byte @Nullable [] @Nullable [] values)
        throws IOException {
      throw new UnsupportedOperationException("ranges");
    }

    /**
     * Returns a reader of the same open store for another thread, to be closed before this one.
     * Returns this reader if it may be shared.
     */
    Reader forAnotherThread() throws IOException;

    @Override
    void close() throws IOException;
  }
}
