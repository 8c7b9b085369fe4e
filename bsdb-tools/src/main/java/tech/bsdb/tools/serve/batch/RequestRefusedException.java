package tech.bsdb.tools.serve.batch;

/**
 * A request that is rejected, with status, message and header lines of the answer. It has no stack
 * trace, since the fault is not in this program.
 */
public final class RequestRefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String headers;

  /**
   * Creates an exception.
   *
   * @param status the HTTP status
   * @param message what is wrong, and where
   * @param headers further header lines of the answer, each ending in CRLF
   */
  public RequestRefusedException(int status, String message, String headers) {
    super(message, null, false, false);
    this.status = status;
    this.headers = headers;
  }

  /** Creates an exception whose answer has no further header lines. */
  public RequestRefusedException(int status, String message) {
    this(status, message, "");
  }

  /** Creates an exception with status 400. */
  public RequestRefusedException(String message) {
    this(400, message);
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  /** Returns further header lines of the answer, each ending in CRLF. */
  public String headers() {
    return headers;
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
