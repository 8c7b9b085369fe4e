package tech.bsdb.tools.serve.batch;

/**
 * A request that its sender must change. It has no stack trace, since the fault is not in this
 * program.
 */
public final class BadRequestException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;

  /**
   * Creates an exception.
   *
   * @param status the HTTP status, 400 to 499
   * @param message what is wrong, and where
   */
  public BadRequestException(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  /** Creates an exception with status 400. */
  public BadRequestException(String message) {
    this(400, message);
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
