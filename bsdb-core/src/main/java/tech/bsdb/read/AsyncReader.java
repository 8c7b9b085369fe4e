package tech.bsdb.read;

import java.io.File;
import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.lookup.AsyncLookups;
import tech.bsdb.lookup.Lookup;

/**
 * Asynchronous reader with the documented constructor; a thin wrapper around the lookup path shared
 * by all readers. Thread-safe.
 *
 * <p>Handlers never run on a thread that reads depend on: they run on dedicated threads, or on the
 * caller's thread if the answer is already in memory. They may block, throw, or start further
 * lookups.
 */
public final class AsyncReader implements AutoCloseable {
  private final Lookup lookup;
  private final AsyncLookups lookups;

  /**
   * Opens a database.
   *
   * @param directory the database directory
   * @param approximate whether the database must be approximate (true) or exact (false)
   * @param indexDirect true to read the index directly from the device, bypassing the page cache,
   *     through io_uring where available, otherwise through a thread pool; false to map it
   * @param kvDirect the same for the data files
   * @throws IOException if the database cannot be opened
   * @throws IllegalArgumentException if the database is not of the requested mode
   */
  public AsyncReader(File directory, boolean approximate, boolean indexDirect, boolean kvDirect)
      throws IOException {
    lookup =
        Lookup.open(
            directory.toPath(),
            EngineChoice.documented(approximate, false, indexDirect, kvDirect, true),
            true);
    try {
      lookups = lookup.async();
    } catch (IOException | RuntimeException | Error e) {
      lookup.close();
      throw e;
    }
  }

  /**
   * Looks up a key asynchronously.
   *
   * @param key must not change until the handler is called
   * @param attachment passed to the handler
   * @param handler called exactly once: completed with the value, or null if the key is absent; or
   *     failed with an {@link IOException}, or an {@link IllegalStateException} if the reader is
   *     closed
   * @param <A> the type of the attachment
   */
  public <A> void asyncGet(
      byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(handler, "handler");
    lookups.get(
        key,
        (value, failure) -> {
          if (failure == null) {
            handler.completed(value, attachment);
          } else {
            handler.failed(failure, attachment);
          }
        },
        null);
  }

  /** Describes the engines in use and why they were chosen. */
  public String engine() {
    return lookup.engine();
  }

  /**
   * Waits for lookups in flight, but not for their handlers, then releases all resources. A second
   * call does nothing.
   */
  @Override
  public void close() throws IOException {
    lookup.close();
  }
}
