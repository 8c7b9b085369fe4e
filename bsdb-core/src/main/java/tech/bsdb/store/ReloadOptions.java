package tech.bsdb.store;

import java.time.Duration;
import java.util.Objects;
import tech.bsdb.OpenOptions;

/**
 * Options for how a {@link ReloadingDatabase} opens and follows versions. Immutable; the {@code
 * with} methods return modified copies.
 */
public final class ReloadOptions {
  private static final ReloadOptions DEFAULTS =
      new ReloadOptions(
          OpenOptions.defaults(), Duration.ofSeconds(1), Preload.NONE, ReloadListener.NONE);

  private final OpenOptions open;
  private final Duration poll;
  private final Preload preload;
  private final ReloadListener listener;

  private ReloadOptions(OpenOptions open, Duration poll, Preload preload, ReloadListener listener) {
    this.open = open;
    this.poll = poll;
    this.preload = preload;
    this.listener = listener;
  }

  /**
   * The defaults: opens with {@link OpenOptions#defaults}, polls every second, preloads nothing.
   */
  public static ReloadOptions defaults() {
    return DEFAULTS;
  }

  /** The options for opening each version. */
  public OpenOptions open() {
    return open;
  }

  /** The interval between checks for a new version. */
  public Duration poll() {
    return poll;
  }

  /** The files read into the page cache before a version goes live. */
  public Preload preload() {
    return preload;
  }

  /** The listener that receives version events. */
  public ReloadListener listener() {
    return listener;
  }

  /** These options with another {@link #open}. */
  public ReloadOptions withOpen(OpenOptions open) {
    return new ReloadOptions(Objects.requireNonNull(open, "open"), poll, preload, listener);
  }

  /**
   * These options with another {@link #poll}.
   *
   * @param poll 1 ms to 1 day
   * @throws IllegalArgumentException if it is out of range
   */
  public ReloadOptions withPoll(Duration poll) {
    if (poll.compareTo(Duration.ofMillis(1)) < 0 || poll.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException("poll is " + poll + ", not in 1 ms to 1 day");
    }
    return new ReloadOptions(open, poll, preload, listener);
  }

  /** These options with another {@link #preload}. */
  public ReloadOptions withPreload(Preload preload) {
    return new ReloadOptions(open, poll, Objects.requireNonNull(preload, "preload"), listener);
  }

  /** These options with another {@link #listener}. */
  public ReloadOptions withListener(ReloadListener listener) {
    return new ReloadOptions(open, poll, preload, Objects.requireNonNull(listener, "listener"));
  }
}
