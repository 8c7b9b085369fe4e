package tech.bsdb.tools.rows;

/**
 * Bytes that are not a row of the schema; the message briefly says why. It has no stack trace,
 * since the fault is not in this program.
 */
public final class BadRowException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates an exception. */
  public BadRowException(String reason) {
    super(reason, null, false, false);
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
