package tech.bsdb.tools.serve;

import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.client.HeldMemory;

/** A request and its answer. Confined to its connection's event loop. */
final class Exchange {
  private final HttpConnection connection;
  private final long beganNanos;
  private final String method;
  private final String uri;
  private final boolean http10;
  private final HeldMemory.Share memory;
  private boolean keepAlive;
  private @Nullable Action action;
  private @Nullable Reply reply;
  private long written;
  private long bodyBytes;

  Exchange(
      HttpConnection connection, String method, String uri, boolean http10, boolean keepAlive) {
    this.connection = connection;
    this.beganNanos = System.nanoTime();
    this.method = method;
    this.uri = uri;
    this.http10 = http10;
    this.memory = connection.share();
    this.keepAlive = keepAlive;
  }

  /** Returns when the request's head arrived, in nanoseconds. */
  long beganNanos() {
    return beganNanos;
  }

  String method() {
    return method;
  }

  boolean isHead() {
    return method.equals("HEAD");
  }

  /** Returns the answer that names the methods of a target, for every method but those. */
  Reply refuseMethod(String methods) {
    String all = methods + ", OPTIONS";
    String allow = "allow: " + all + "\r\n";
    return method.equals("OPTIONS")
        ? Reply.text(200, MediaType.BYTES, "").with(allow)
        : Reply.error(405, "the methods allowed here are " + all, allow);
  }

  /** Returns the target as received. */
  String uri() {
    return uri;
  }

  boolean http10() {
    return http10;
  }

  /** Whether the connection stays open after this exchange. */
  boolean keepAlive() {
    return keepAlive;
  }

  void closeAfterwards() {
    keepAlive = false;
  }

  @Nullable Action action() {
    return action;
  }

  void action(Action answeredBy) {
    this.action = answeredBy;
  }

  /** Returns the whole answer, or null until there is one. */
  @Nullable Reply reply() {
    return reply;
  }

  /** Sets the answer, on the event loop; only the first counts. */
  void reply(Reply answer) {
    if (reply == null) {
      reply = answer;
    }
  }

  /** Returns the connection on which the request came. */
  HttpConnection connection() {
    return connection;
  }

  /** Returns the memory held for the answer until it is handed to the connection. */
  HeldMemory.Share memory() {
    return memory;
  }

  /** Returns the number of bytes of the answer's body written so far. */
  long written() {
    return written;
  }

  void count(long bytes) {
    written += bytes;
  }

  /** Returns the number of bytes of the request's body received. */
  long bodyBytes() {
    return bodyBytes;
  }

  void bodyBytes(long bytes) {
    bodyBytes = bytes;
  }

  /** Completes the exchange with a whole answer, from any thread. */
  void complete(Reply answer) {
    connection.complete(this, answer);
  }
}
