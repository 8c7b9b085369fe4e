package tech.bsdb.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where the files of a new version come from. One thread calls these methods, in their order here.
 */
interface Supply {
  /**
   * Checks that a store may be at a place; no file is touched.
   *
   * @throws IllegalArgumentException if it is in a database or in another store
   */
  void checkPlace(Path store) throws IOException;

  /**
   * Checks what is published and where, before anything is written.
   *
   * @param checkOpen throws once the publication is closed
   */
  void check(Path store, Runnable checkOpen) throws IOException;

  /** Learns what there is to bring; the store is locked now. */
  void begin(Path store) throws IOException;

  /** The number of records that the version will have. */
  long records();

  /** The id of the database. */
  String id();

  /** The name that the version has where it comes from, or null. */
  default @Nullable String name() {
    return null;
  }

  /** Brings all files, forced to the device except for the entries of the version's directory. */
  void bring(Incoming incoming) throws IOException;

  /** Removes what was only needed until the version became current. */
  default void done() throws IOException {}

  /** The directory that becomes the version. After a close, each of these operations fails. */
  interface Incoming {
    /** Fails if the publication has been closed. */
    void checkOpen();

    /** The directory. */
    Path directory();

    /** Creates a file. */
    FileChannel create(Path file) throws IOException;

    /** Creates a directory for a shard; its entries are forced later. */
    void makeShard(Path directory) throws IOException;

    /** Runs an operation on the directory that a close must not overlap. */
    void exclusively(Step step) throws IOException;

    /** Reports progress. */
    void copied(long doneBytes, long allBytes);
  }

  /** An operation. */
  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }
}
