package tech.bsdb.tools.serve.batch;

/** A value that cannot be returned as JSON, or whose fields cannot. */
public final class NotJsonException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates an exception whose message says briefly what is wrong with the value. */
  public NotJsonException(String message) {
    super(message, null, false, false);
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
