package tech.bsdb.store;

import org.jspecify.annotations.Nullable;

/**
 * The version that is to be served.
 *
 * @param version the version's name in its store; null for a plain database
 * @param whole whether the pointer was certainly read completely
 */
record NamedVersion(@Nullable String version, boolean whole) {
  /** What a plain database always is. */
  static final NamedVersion PLAIN = new NamedVersion(null, true);

  /** The version that a store's pointer names, or null if it names none. */
  static @Nullable NamedVersion of(@Nullable Pointer pointer) {
    return pointer == null ? null : new NamedVersion(pointer.current(), pointer.whole());
  }
}
