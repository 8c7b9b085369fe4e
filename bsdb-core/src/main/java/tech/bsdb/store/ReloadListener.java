package tech.bsdb.store;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Receives version events. Called synchronously on the reloading thread; exceptions go to that
 * thread's uncaught exception handler and do not stop reloading.
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

  /** A version was rejected. Called once per reason, not on every retry. */
  default void refused(Refusal refusal) {}

  /**
   * A version was closed after its last lease was released.
   *
   * @param failure the failure to close it, or null
   */
  default void closed(String version, @Nullable IOException failure) {}
}
