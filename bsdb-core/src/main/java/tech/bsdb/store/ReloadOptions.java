package tech.bsdb.store;

import java.time.Duration;
import java.util.Objects;
import tech.bsdb.OpenOptions;

/**
 * Options for how a {@link ReloadingDatabase} opens and follows versions. Immutable; the {@code
 * with} methods return modified copies.
 *
 * @param open the options for opening each version
 * @param poll the interval between checks for a new version, 1 ms to 1 day
 * @param preload the files read into the page cache before a version goes live; for remote
 *     versions, those copied to the pages on disk afterwards
 * @param listener receives version events
 */
public record ReloadOptions(
    OpenOptions open, Duration poll, Preload preload, ReloadListener listener) {
  /** Fails with {@link IllegalArgumentException} if the interval is out of range. */
  public ReloadOptions {
    Objects.requireNonNull(open, "open");
    Objects.requireNonNull(preload, "preload");
    Objects.requireNonNull(listener, "listener");
    if (poll.compareTo(Duration.ofMillis(1)) < 0 || poll.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException("poll is " + poll + ", not in 1 ms to 1 day");
    }
  }

  /**
   * The defaults: opens with {@link OpenOptions#defaults}, polls every second, preloads nothing.
   */
  public static ReloadOptions defaults() {
    return new ReloadOptions(
        OpenOptions.defaults(), Duration.ofSeconds(1), Preload.NONE, ReloadListener.NONE);
  }

  /** These options with another {@link #open}. */
  public ReloadOptions withOpen(OpenOptions open) {
    return new ReloadOptions(open, poll, preload, listener);
  }

  /** These options with another {@link #poll}. */
  public ReloadOptions withPoll(Duration poll) {
    return new ReloadOptions(open, poll, preload, listener);
  }

  /** These options with another {@link #preload}. */
  public ReloadOptions withPreload(Preload preload) {
    return new ReloadOptions(open, poll, preload, listener);
  }

  /** These options with another {@link #listener}. */
  public ReloadOptions withListener(ReloadListener listener) {
    return new ReloadOptions(open, poll, preload, listener);
  }
}
