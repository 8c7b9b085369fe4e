package tech.bsdb.tools.rows;

/**
 * Bytes that are no row of the schema; the message says in a few words why. It has no stack trace:
 * it says nothing of this program.
 */
public final class BadRowException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Bytes that are no row. */
  BadRowException(String reason) {
    super(reason, null, false, false);
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
