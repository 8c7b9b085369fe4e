package tech.bsdb.store;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a database is brought into a store: an immutable value.
 *
 * @param version the name of the new version: 1 to 100 of the characters {@code A-Z a-z 0-9 . _ -},
 *     not beginning with {@code .} or {@code -}, and not {@code CURRENT}; null for the time, such
 *     as {@code 20261121T151400Z}
 * @param link whether files are not copied but get a second name (hard links), in the same file
 *     system
 * @param listener hears how far it is
 */
public record PublishOptions(@Nullable String version, boolean link, PublishListener listener) {
  /** Checks the options. */
  public PublishOptions {
    Objects.requireNonNull(listener, "listener");
    if (version != null) {
      VersionName.checked(version);
    }
  }

  /** The time as the name, copies, nobody listens. */
  public static PublishOptions defaults() {
    return new PublishOptions(null, false, PublishListener.NONE);
  }

  /** These options with a name. */
  public PublishOptions withVersion(String version) {
    return new PublishOptions(version, link, listener);
  }

  /** These options with links or copies. */
  public PublishOptions withLink(boolean link) {
    return new PublishOptions(version, link, listener);
  }

  /** These options with a listener. */
  public PublishOptions withListener(PublishListener listener) {
    return new PublishOptions(version, link, listener);
  }
}
