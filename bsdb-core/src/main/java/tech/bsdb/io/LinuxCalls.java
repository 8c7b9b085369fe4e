package tech.bsdb.io;

import org.jspecify.annotations.Nullable;

/**
 * Makes system calls, on Java 22 and newer: there the class of the same name in the overlay takes
 * the place of this one, which makes none.
 */
final class LinuxCalls {
  private static final int NEEDED = 22;

  private LinuxCalls() {}

  /** Why no system calls can be made, or null if they can. */
  static @Nullable String unavailable() {
    int feature = Runtime.version().feature();
    return feature < NEEDED
        ? "needs Java " + NEEDED + " or newer, this is " + feature
        : "this build of bsdb was made without its classes for Java " + NEEDED + " and newer";
  }

  /** Makes the calls; null if they are {@link #unavailable}. */
  static @Nullable SystemCalls instance() {
    return null;
  }
}
