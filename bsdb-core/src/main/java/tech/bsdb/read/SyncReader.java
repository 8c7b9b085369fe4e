package tech.bsdb.read;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.MappedEngine;

/**
 * The synchronous reader with its documented constructor; thin over {@link Lookup}. Thread-safe.
 */
public final class SyncReader implements Closeable {
  private final Lookup lookup;

  /**
   * Opens a database.
   *
   * @param directory its directory
   * @param loadIndexIntoMemory whether the index is brought into memory now, so that look-ups need
   *     not wait for it
   * @param approximate whether the database must be an approximate one
   * @param indexDirect whether the index is read by positional reads, not mapped
   * @param kvDirect whether the data files are read by positional reads, not mapped
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
    this.lookup =
        Lookup.open(
            directory.toPath(),
            database -> {
              requireMode(database, approximate);
              Engine index =
                  indexDirect && !loadIndexIntoMemory ? new BufferedEngine() : new MappedEngine();
              Engine data = kvDirect ? new BufferedEngine() : new MappedEngine();
              return new EngineChoice.Chosen(
                  index, data, "index " + index.name() + ", data " + data.name() + " (as asked)");
            },
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

  private static void requireMode(DatabaseDirectory database, boolean approximate) {
    boolean is = database.approximateWidth() > 0;
    if (approximate && !is) {
      throw new IllegalArgumentException(
          database.path()
              + " has no approximate index; build it with -a, or open it without approximate mode");
    }
    if (!approximate && is) {
      throw new IllegalArgumentException(
          database.path() + " is approximate; open it in approximate mode, or build it without -a");
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

  /** Waits for running look-ups and releases everything; a second call does nothing. */
  @Override
  public void close() throws IOException {
    lookup.close();
  }
}
