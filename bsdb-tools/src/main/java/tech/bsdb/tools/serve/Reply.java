package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import tech.bsdb.tools.serve.batch.ErrorBody;

/**
 * An answer that is whole: status, headers and body. Its arrays are not to be changed.
 *
 * @param status the status code
 * @param type the body's media type
 * @param headers further header lines, each ended with CRLF; empty for none
 * @param body the body
 */
record Reply(int status, MediaType type, String headers, byte[] body) {
  private static final byte[] NOTHING = {};

  /** A key is not there. */
  static final Reply ABSENT = error(404, "no such key");

  /** No more work is taken on right now. */
  static final Reply BUSY =
      error(503, "too many lookups are under way; try again", "retry-after: 1\r\n");

  /** There is no room for the value right now. */
  static final Reply FULL =
      error(
          503,
          "too much memory is held for values that clients have not taken; try again",
          "retry-after: 1\r\n");

  /** There is no room for the body right now. */
  static final Reply TOO_MUCH_SENT =
      error(503, "too much is being sent to the server; try again", "retry-after: 1\r\n");

  /** All that is said to a client beyond the limit of connections, head and body. */
  static final byte[] TOO_MANY_CONNECTIONS = tooManyConnections();

  /** A lookup failed; the reason is in the server's log, not the client's business. */
  static final Reply FAILED = error(500, "the value could not be read; the server's log says why");

  private static byte[] tooManyConnections() {
    byte[] body = ErrorBody.json(503, "too many connections; try again");
    String head =
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: "
            + body.length
            + "\r\nretry-after: 1\r\nconnection: close\r\n\r\n";
    return (head + new String(body, UTF_8)).getBytes(UTF_8);
  }

  /** The client has the value already; no body, nor what would describe one. */
  static Reply unchanged(String headers) {
    return new Reply(304, MediaType.BYTES, headers, NOTHING);
  }

  /** The same answer with further header lines, each ended with CRLF. */
  Reply with(String lines) {
    return new Reply(status, type, headers + lines, body);
  }

  /** A body with nothing to add. */
  static Reply of(int status, MediaType type, byte[] body) {
    return new Reply(status, type, "", body);
  }

  /** Text for people and programs. */
  static Reply text(int status, MediaType type, String body) {
    return of(status, type, body.getBytes(UTF_8));
  }

  /** An error as a small JSON object. */
  static Reply error(int status, String message) {
    return error(status, message, "");
  }

  /** An error with further header lines. */
  static Reply error(int status, String message, String headers) {
    return new Reply(status, MediaType.JSON, headers, ErrorBody.json(status, message));
  }
}
