package tech.bsdb.store;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a database is published to a store: an immutable value. The {@code with} methods return
 * changed copies.
 */
public final class PublishOptions {
  private static final PublishOptions DEFAULTS =
      new PublishOptions(null, false, PublishListener.NONE);

  private final @Nullable String version;
  private final boolean link;
  private final PublishListener listener;

  private PublishOptions(@Nullable String version, boolean link, PublishListener listener) {
    this.version = version;
    this.link = link;
    this.listener = listener;
  }

  /** Named by the time, copied, without a listener. */
  public static PublishOptions defaults() {
    return DEFAULTS;
  }

  /** The name of the new version; null for the time, such as {@code 20261121T151400Z}. */
  public @Nullable String version() {
    return version;
  }

  /** Whether files get a second name (hard links, in the same file system) instead of a copy. */
  public boolean link() {
    return link;
  }

  /** Receives the progress. */
  public PublishListener listener() {
    return listener;
  }

  /**
   * These options with another {@link #version}.
   *
   * @param version 1 to 100 of the characters {@code A-Z a-z 0-9 . _ -}, not beginning with {@code
   *     .} or {@code -}, and not {@code CURRENT}; null for the time
   * @throws IllegalArgumentException if it is none of these
   */
  public PublishOptions withVersion(@Nullable String version) {
    if (version != null) {
      VersionName.checked(version);
    }
    return new PublishOptions(version, link, listener);
  }

  /** These options with links or copies. */
  public PublishOptions withLink(boolean link) {
    return new PublishOptions(version, link, listener);
  }

  /** These options with a listener. */
  public PublishOptions withListener(PublishListener listener) {
    return new PublishOptions(version, link, Objects.requireNonNull(listener, "listener"));
  }
}
