package tech.bsdb.store;

import java.io.IOException;

/** Thrown if the changes between two databases are of no use to stores with the older one. */
public final class NoDeltaException extends IOException {
  private static final long serialVersionUID = 1;

  /** Creates an exception with the reason, as people say it. */
  public NoDeltaException(String why) {
    super(why);
  }
}
