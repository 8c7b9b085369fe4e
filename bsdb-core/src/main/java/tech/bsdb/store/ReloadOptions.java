package tech.bsdb.store;

import java.time.Duration;
import java.util.Objects;
import tech.bsdb.OpenOptions;

/**
 * How a {@link ReloadingDatabase} opens and follows versions: an immutable value.
 *
 * @param open how each version is opened
 * @param poll how often it looks for another version, at least 1 ms
 * @param preload what is read into the page cache before a version goes live
 * @param listener hears what becomes of versions
 */
public record ReloadOptions(
    OpenOptions open, Duration poll, Preload preload, ReloadListener listener) {
  /** Checks the options. */
  public ReloadOptions {
    Objects.requireNonNull(open, "open");
    Objects.requireNonNull(preload, "preload");
    Objects.requireNonNull(listener, "listener");
    if (poll.compareTo(Duration.ofMillis(1)) < 0 || poll.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException("poll from 1 ms to 1 day, not " + poll);
    }
  }

  /** Default options of opening, a look every second, nothing preloaded, nobody listens. */
  public static ReloadOptions defaults() {
    return new ReloadOptions(
        OpenOptions.defaults(), Duration.ofSeconds(1), Preload.NONE, ReloadListener.NONE);
  }

  /** These options with others for opening. */
  public ReloadOptions withOpen(OpenOptions open) {
    return new ReloadOptions(open, poll, preload, listener);
  }

  /** These options with another time between looks. */
  public ReloadOptions withPoll(Duration poll) {
    return new ReloadOptions(open, poll, preload, listener);
  }

  /** These options with other files preloaded. */
  public ReloadOptions withPreload(Preload preload) {
    return new ReloadOptions(open, poll, preload, listener);
  }

  /** These options with a listener. */
  public ReloadOptions withListener(ReloadListener listener) {
    return new ReloadOptions(open, poll, preload, listener);
  }
}
