package tech.bsdb.remote;

import java.io.IOException;

/** Reports an answer that another attempt would not change. The message does not name the file. */
final class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  RefusedException(String message) {
    super(message);
  }

  /** Reports a failure that is a mistake in an origin. */
  RefusedException(Throwable mistake) {
    super(mistake.toString(), mistake);
  }
}
