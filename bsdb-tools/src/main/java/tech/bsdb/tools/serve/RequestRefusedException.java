package tech.bsdb.tools.serve;

/** A request that a route rejects, with the answer to it; the connection may stay open. */
final class RequestRefusedException extends Exception {
  private static final long serialVersionUID = 1;

  private final transient Reply reply;

  RequestRefusedException(Reply reply) {
    super(null, null, false, false);
    this.reply = reply;
  }

  Reply reply() {
    return reply;
  }
}
