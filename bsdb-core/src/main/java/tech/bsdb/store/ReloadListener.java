package tech.bsdb.store;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;

/**
 * Receives version events. Called synchronously on the reloading thread, except where a method says
 * otherwise; exceptions go to that thread's uncaught exception handler and do not stop reloading.
 */
public interface ReloadListener {
  /** Does nothing. */
  ReloadListener NONE = new ReloadListener() {};

  /**
   * A version went live. Not called for the first version.
   *
   * @param version the version's name
   * @param took how long opening took, including preloading
   */
  default void opened(String version, Duration took) {}

  /**
   * Files of a remote version are being copied to the pages on disk, see {@link Database#preload}.
   * Called by another thread than the other methods: at the beginning, at each tenth, and at the
   * end.
   *
   * @param version the version's name
   * @param bytes how many of them are there
   * @param all how many there will be
   */
  default void preloading(String version, long bytes, long all) {}

  /** A failure ended {@link #preloading}, on whose thread this is called; lookups continue. */
  default void notPreloaded(String version, IOException failure) {}

  /** A version was rejected. Called once per reason, not on every retry. */
  default void refused(Refusal refusal) {}

  /**
   * A version was closed after its last lease was released.
   *
   * @param failure the failure to close it, or null
   */
  default void closed(String version, @Nullable IOException failure) {}
}
