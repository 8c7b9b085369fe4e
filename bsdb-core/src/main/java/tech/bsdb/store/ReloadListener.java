package tech.bsdb.store;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Hears what becomes of versions. Called on the thread that reloads, which waits; what it throws
 * goes to that thread's handler of uncaught exceptions and stops nothing.
 */
public interface ReloadListener {
  /** Does nothing. */
  ReloadListener NONE = new ReloadListener() {};

  /**
   * A version went live. Not called for the first one.
   *
   * @param version its name
   * @param took how long opening it took, with preloading
   */
  default void opened(String version, Duration took) {}

  /** A version was refused; called once for each reason, not for every time it is tried again. */
  default void refused(Refusal refusal) {}

  /**
   * A version's last lease was given back, and it was closed.
   *
   * @param failure what went wrong when it was closed, or null
   */
  default void closed(String version, @Nullable IOException failure) {}
}
