package tech.bsdb.remote;

import java.io.IOException;

/** Reports a file that was replaced or truncated while a remote database was open. */
public final class ChangedException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates an exception whose message names the file and says what to do. */
  public ChangedException(String message) {
    super(message);
  }
}
