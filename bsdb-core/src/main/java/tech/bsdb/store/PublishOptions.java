package tech.bsdb.store;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options for publishing a database to a store. Immutable; the {@code with} methods return modified
 * copies.
 *
 * @param version the name of the new version: 1 to 100 of the characters {@code A-Z a-z 0-9 . _ -},
 *     not starting with {@code .} or {@code -}, and not {@code CURRENT}; null to name it by the
 *     time, such as {@code 20261121T151400Z}
 * @param link whether files are hard-linked (same file system only) instead of copied
 * @param listener receives progress
 */
public record PublishOptions(@Nullable String version, boolean link, PublishListener listener) {
  /** Fails with {@link IllegalArgumentException} if the name is invalid. */
  public PublishOptions(@Nullable String version, boolean link, PublishListener listener) {
    this.version = version == null ? null : VersionName.checked(version);
    this.link = link;
    this.listener = Objects.requireNonNull(listener, "listener");
  }

  /** The defaults: named by the time, copied, no listener. */
  public static PublishOptions defaults() {
    return new PublishOptions(null, false, PublishListener.NONE);
  }

  /** These options with another {@link #version}. */
  public PublishOptions withVersion(@Nullable String version) {
    return new PublishOptions(version, link, listener);
  }

  /** These options with another {@link #link}. */
  public PublishOptions withLink(boolean link) {
    return new PublishOptions(version, link, listener);
  }

  /** These options with another {@link #listener}. */
  public PublishOptions withListener(PublishListener listener) {
    return new PublishOptions(version, link, listener);
  }
}
