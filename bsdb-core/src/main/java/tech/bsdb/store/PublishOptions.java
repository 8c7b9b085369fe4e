package tech.bsdb.store;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options for publishing a database to a store. Immutable; the {@code with} methods return modified
 * copies.
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

  /** The defaults: named by the time, copied, no listener. */
  public static PublishOptions defaults() {
    return DEFAULTS;
  }

  /** The name of the new version; null to name it by the time, such as {@code 20261121T151400Z}. */
  public @Nullable String version() {
    return version;
  }

  /** Whether files are hard-linked (same file system only) instead of copied. */
  public boolean link() {
    return link;
  }

  /** The listener that receives progress. */
  public PublishListener listener() {
    return listener;
  }

  /**
   * These options with another {@link #version}.
   *
   * @param version 1 to 100 of the characters {@code A-Z a-z 0-9 . _ -}, not starting with {@code
   *     .} or {@code -}, and not {@code CURRENT}; null for the time
   * @throws IllegalArgumentException if the name is invalid
   */
  public PublishOptions withVersion(@Nullable String version) {
    if (version != null) {
      VersionName.checked(version);
    }
    return new PublishOptions(version, link, listener);
  }

  /** These options with another {@link #link}. */
  public PublishOptions withLink(boolean link) {
    return new PublishOptions(version, link, listener);
  }

  /** These options with another {@link #listener}. */
  public PublishOptions withListener(PublishListener listener) {
    return new PublishOptions(version, link, Objects.requireNonNull(listener, "listener"));
  }
}
