package tech.bsdb.store;

import java.io.IOException;

/** Thrown when the database that is pulled is replaced by another one meanwhile; pull again. */
public final class SourceReplacedException extends IOException {
  private static final long serialVersionUID = 1L;

  SourceReplacedException(String message, Throwable cause) {
    super(message, cause);
  }
}
