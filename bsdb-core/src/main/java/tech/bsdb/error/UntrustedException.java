package tech.bsdb.error;

import java.io.IOException;

/** Thrown when a database is not signed by a trusted key, although that is required. */
public final class UntrustedException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message which manifest, and what is wrong
   */
  public UntrustedException(String message) {
    super(message);
  }
}
