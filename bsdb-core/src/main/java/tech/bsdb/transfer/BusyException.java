package tech.bsdb.transfer;

import java.io.IOException;
import java.time.Duration;

/** Reports an {@link Origin} that cannot answer now. The message does not name the file. */
public final class BusyException extends IOException {
  private static final long serialVersionUID = 1L;

  private final Duration wait;

  /**
   * Creates an exception.
   *
   * @param wait how long the origin asks to wait, or zero
   */
  public BusyException(String message, Duration wait) {
    super(message);
    this.wait = wait;
  }

  /** How long the origin asks to wait, or zero. */
  public Duration waiting() {
    return wait;
  }
}
