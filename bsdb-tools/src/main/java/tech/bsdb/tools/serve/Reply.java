package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * A whole answer: status, headers and body; as an action, the one of requests that are rejected
 * when their head has arrived. Its arrays must not be modified.
 *
 * @param status the status code
 * @param type the body's media type
 * @param headers further header lines, each ending in CRLF; empty for none
 * @param body the body
 */
record Reply(int status, MediaType type, String headers, byte[] body) implements Action {
  private static final byte[] NOTHING = {};

  /** The key is absent. */
  static final Reply ABSENT = error(404, "no such key");

  /** The server accepts no more work right now. */
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

  /** The whole response, head and body, to a client beyond the connection limit. */
  static final byte[] TOO_MANY_CONNECTIONS = tooManyConnections();

  /** The key belongs to a shard that this server does not have (RFC 9110, section 15.5.20). */
  static Reply misdirected(WrongShardException e) {
    return error(
        421,
        "the key "
            + DuplicateKeyException.show(e.key())
            + " has slot "
            + e.slot()
            + " and belongs to shard "
            + e.shard()
            + ", which this server does not have; ask the server of that shard");
  }

  /**
   * The key belongs to another node of the cluster.
   *
   * @param url the URL of keys at that node, or empty if it has none
   */
  static Reply misdirected(ElsewhereException e, String url) {
    ClusterNode owner = e.owner();
    String message =
        "the key has slot "
            + e.slot()
            + " and belongs to node "
            + owner.name()
            + (url.isEmpty() ? " on " + owner.host() : "; ask " + url);
    byte[] body =
        url.isEmpty()
            ? errorBody(421, message, "node", owner.name())
            : errorBody(421, message, "node", owner.name(), "url", url);
    return of(421, MediaType.JSON, body);
  }

  /** The data set is not served any more. */
  static Reply removed(DataSetRemovedException e) {
    return error(404, String.valueOf(e.getMessage()));
  }

  /** A lookup failed; the reason goes to the server's log, not to the client. */
  static final Reply FAILED = error(500, "the value could not be read; the server's log says why");

  /** The same, if not a value but the order of the keys was being read. */
  static final Reply ORDER_FAILED =
      error(500, "the order of the keys could not be read; the server's log says why");

  private static byte[] tooManyConnections() {
    byte[] body = errorBody(503, "too many connections; try again");
    String head =
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: "
            + body.length
            + "\r\nretry-after: 1\r\nconnection: close\r\n\r\n";
    return (head + new String(body, UTF_8)).getBytes(UTF_8);
  }

  /** The client already has the value; no body and no headers describing one. */
  static Reply unchanged(String headers) {
    return new Reply(304, MediaType.BYTES, headers, NOTHING);
  }

  /** Returns the same answer with further header lines, each ending in CRLF. */
  Reply with(String lines) {
    return new Reply(status, type, headers + lines, body);
  }

  @Override
  public void start(Exchange exchange) {
    exchange.complete(this);
  }

  @Override
  public boolean overlaps() {
    return true;
  }

  /** The answer to a request that is rejected. */
  static Reply of(RequestRefusedException e) {
    return error(e.status(), e.getMessage(), e.headers());
  }

  /** An answer with no further header lines. */
  static Reply of(int status, MediaType type, byte[] body) {
    return new Reply(status, type, "", body);
  }

  /** An answer with a text body. */
  static Reply text(int status, MediaType type, String body) {
    return of(status, type, body.getBytes(UTF_8));
  }

  /** An error as a small JSON object. */
  static Reply error(int status, String message) {
    return error(status, message, "");
  }

  /** An error as a small JSON object, with further header lines. */
  static Reply error(int status, String message, String headers) {
    return new Reply(status, MediaType.JSON, headers, errorBody(status, message));
  }

  /**
   * {@code {"error":{"status":404,"message":"..."}}} and a newline, in UTF-8.
   *
   * @param members names and values of further members of the error
   */
  private static byte[] errorBody(int status, String message, String... members) {
    JsonBuffer out = new JsonBuffer();
    out.put("{\"error\":{\"status\":".getBytes(UTF_8));
    out.putNumber(status);
    put(",\"message\":", message, out);
    for (int i = 0; i < members.length; i += 2) {
      put(",\"" + members[i] + "\":", members[i + 1], out);
    }
    out.put("}}\n".getBytes(UTF_8));
    return out.copy();
  }

  private static void put(String before, String text, JsonBuffer out) {
    out.put(before.getBytes(UTF_8));
    byte[] bytes = text.getBytes(UTF_8);
    out.putString(bytes, 0, bytes.length);
  }
}
