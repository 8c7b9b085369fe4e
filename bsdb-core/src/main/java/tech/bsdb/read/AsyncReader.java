package tech.bsdb.read;

import java.io.File;
import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lookup.AsyncLookups;
import tech.bsdb.lookup.EngineChoice;
import tech.bsdb.lookup.Lookup;

/**
 * The asynchronous reader with its documented constructor; thin over the one way of a lookup.
 * Thread-safe.
 *
 * <p>Handlers never run on a thread that reads depend on: they run on threads of their own, or on
 * the caller's where the answer is in memory already. They may block, throw, or ask again.
 */
public final class AsyncReader implements AutoCloseable {
  private final Lookup lookup;
  private final AsyncLookups lookups;

  /**
   * Opens a database.
   *
   * @param directory its directory
   * @param approximate whether the database must be an approximate one
   * @param indexDirect whether the index is read from the device, past the page cache, by io_uring
   *     where the machine offers it, else by a pool of threads; false: mapped
   * @param kvDirect the same for the data files
   * @throws IOException if it cannot be opened
   * @throws IllegalArgumentException if it lacks the mode that was asked for
   */
  public AsyncReader(File directory, boolean approximate, boolean indexDirect, boolean kvDirect)
      throws IOException {
    lookup =
        Lookup.open(
            directory.toPath(),
            EngineChoice.documented(approximate, false, indexDirect, kvDirect, true),
            true);
    try {
      lookups = new AsyncLookups(lookup);
    } catch (IOException | RuntimeException | Error e) {
      lookup.close();
      throw e;
    }
  }

  /**
   * Looks a key up.
   *
   * @param key must stay as it is until the handler is called
   * @param attachment handed to the handler
   * @param handler called exactly once: completed with the value, with null if the key is absent;
   *     or failed with an {@link IOException}, or with an {@link IllegalStateException} if the
   *     reader is closed
   * @param <A> what is attached
   */
  public <A> void asyncGet(
      byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(handler, "handler");
    lookups.get(
        key,
        new AsyncLookups.Answer() {
          @Override
          public void completed(byte @Nullable [] value) {
            handler.completed(value, attachment);
          }

          @Override
          public void failed(Throwable why) {
            handler.failed(why, attachment);
          }
        });
  }

  /** The engines in use, and why. */
  public String engine() {
    return lookup.engine();
  }

  /**
   * Waits for the lookups under way, but not for their handlers, and releases everything; a second
   * call does nothing.
   */
  @Override
  public void close() throws IOException {
    try {
      lookups.close();
    } finally {
      lookup.close();
    }
  }
}
