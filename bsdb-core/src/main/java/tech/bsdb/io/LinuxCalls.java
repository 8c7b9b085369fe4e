package tech.bsdb.io;

import org.jspecify.annotations.Nullable;

/**
 * Makes no system calls; stands in on Java 17 to 21. On Java 22 and newer, the overlay class of the
 * same name, which makes them, replaces this one.
 */
final class LinuxCalls {
  private static final int NEEDED = 22;

  private LinuxCalls() {}

  /** Says why no system calls can be made, or returns null if they can. */
  static @Nullable String unavailable() {
    int feature = Runtime.version().feature();
    return feature < NEEDED
        ? "needs Java " + NEEDED + " or newer, this is " + feature
        : "this build of bsdb was made without its classes for Java " + NEEDED + " and newer";
  }

  /** The system calls, or null if they are {@link #unavailable}. */
  static @Nullable SystemCalls instance() {
    return null;
  }
}
