package tech.bsdb.transfer;

import java.io.IOException;

/**
 * Reports that an {@link Origin} answers in a manner that another attempt would not change. The
 * message does not name the file.
 */
public final class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates an exception. */
  public RefusedException(String message) {
    super(message);
  }

  /** Reports a failure that is a mistake in an origin. */
  public RefusedException(Throwable mistake) {
    super(mistake.toString(), mistake);
  }
}
