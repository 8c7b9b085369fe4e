package tech.bsdb.remote;

import java.io.IOException;
import java.time.Duration;

/** Reports a server that cannot answer now. The message does not name the file. */
final class BusyException extends IOException {
  private static final long serialVersionUID = 1L;

  private final Duration wait;

  /**
   * Creates an exception.
   *
   * @param wait how long the server asks to wait, or zero
   */
  BusyException(int status, Duration wait) {
    super("the server answered " + status);
    this.wait = wait;
  }

  /** How long the server asks to wait, or zero. */
  Duration waiting() {
    return wait;
  }
}
