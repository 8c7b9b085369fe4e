package tech.bsdb.tools.serve.batch;

/** A value that cannot be given as JSON, or not its fields, because of what it is. */
public final class NotJsonException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Says in a few words what the value is, or is not. */
  public NotJsonException(String message) {
    super(message, null, false, false);
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
