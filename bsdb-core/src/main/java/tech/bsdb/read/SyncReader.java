package tech.bsdb.read;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.lookup.Lookup;

/**
 * Synchronous reader with the documented constructor; a thin wrapper around the lookup path shared
 * by all readers. Thread-safe.
 */
public final class SyncReader implements Closeable {
  private final Lookup lookup;

  /**
   * Opens a database.
   *
   * @param directory the database directory
   * @param loadIndexIntoMemory whether to load the index into off-heap memory now, so that lookups
   *     never wait for it; {@code indexDirect} is then ignored
   * @param approximate whether the database must be approximate (true) or exact (false)
   * @param indexDirect true to read the index directly from the device, bypassing the page cache,
   *     or with buffered reads if the file system does not support that (see {@link #engine});
   *     false to map it
   * @param kvDirect the same for the data files
   * @throws IOException if the database cannot be opened
   * @throws IllegalArgumentException if the database is not of the requested mode
   */
  public SyncReader(
      File directory,
      boolean loadIndexIntoMemory,
      boolean approximate,
      boolean indexDirect,
      boolean kvDirect)
      throws IOException {
    lookup =
        Lookup.open(
            directory.toPath(),
            EngineChoice.documented(approximate, loadIndexIntoMemory, indexDirect, kvDirect, false),
            true);
  }

  /**
   * Looks up a key.
   *
   * @return the value, or null if the key is absent
   * @throws IOException if a read fails or the data is damaged
   * @throws IllegalStateException if the reader is closed
   */
  public byte @Nullable [] getAsBytes(byte[] key) throws IOException {
    return lookup.get(key);
  }

  /** Describes the engines in use and why they were chosen. */
  public String engine() {
    return lookup.engine();
  }

  /**
   * Waits for running lookups to finish, then releases all resources. A second call does nothing.
   */
  @Override
  public void close() throws IOException {
    lookup.close();
  }
}
