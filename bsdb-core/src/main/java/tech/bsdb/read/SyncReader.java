package tech.bsdb.read;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lookup.EngineChoice;
import tech.bsdb.lookup.Lookup;

/**
 * The synchronous reader with its documented constructor; thin over {@link Lookup}. Thread-safe.
 */
public final class SyncReader implements Closeable {
  private final Lookup lookup;

  /**
   * Opens a database.
   *
   * @param directory its directory
   * @param loadIndexIntoMemory whether the index is read into memory of its own now, outside the
   *     heap, so that lookups never wait for it; then {@code indexDirect} does not count
   * @param approximate whether the database must be an approximate one
   * @param indexDirect whether the index is read from the device, past the page cache; buffered
   *     where the file system does not offer that, as {@link #engine} says; false: mapped
   * @param kvDirect the same for the data files
   * @throws IOException if it cannot be opened
   * @throws IllegalArgumentException if it lacks the mode that was asked for
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
    if (loadIndexIntoMemory) {
      try {
        lookup.loadIndex();
      } catch (IOException | RuntimeException e) {
        lookup.close();
        throw e;
      }
    }
  }

  /**
   * The value of a key.
   *
   * @return the value, or null if the key is absent
   * @throws IOException if it cannot be read, or is damaged
   * @throws IllegalStateException if the reader is closed
   */
  public byte @Nullable [] getAsBytes(byte[] key) throws IOException {
    return lookup.get(key);
  }

  /** The engines in use, and why. */
  public String engine() {
    return lookup.engine();
  }

  /** Waits for running lookups and releases everything; a second call does nothing. */
  @Override
  public void close() throws IOException {
    lookup.close();
  }
}
