package tech.bsdb.tools.serve.resp;

/** Bytes that are no command; the connection cannot go on. */
final class MalformedCommandException extends Exception {
  private static final long serialVersionUID = 1;

  /**
   * Bytes that are no command.
   *
   * @param reason what Redis says about them behind {@code ERR Protocol error: }
   */
  MalformedCommandException(String reason) {
    super(reason, null, false, false);
  }
}
