package tech.bsdb.tools.serve;

import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.Scope;
import tech.bsdb.tools.serve.telemetry.RequestSpan;
import tech.bsdb.tools.serve.telemetry.Route;

/** A request and its answer. Confined to its connection's event loop. */
final class Exchange {
  /** The connection on which the request came. */
  final HttpConnection connection;

  /** When the request's head arrived, in nanoseconds. */
  final long beganNanos = System.nanoTime();

  final String method;

  /** The target as received. */
  final String uri;

  final boolean http10;

  /** The memory held for the answer until it is handed to the connection. */
  final HeldMemory.Share memory;

  /** Whether the connection stays open after this exchange. */
  boolean keepAlive;

  /** What the client may do, once its credentials are read. */
  Scope scope = Scope.ALL;

  /** Answers the request, once it is known how. */
  Action action = Reply.FAILED;

  /** The route of the target, once it is known. */
  Route route = Route.NOWHERE;

  /** What is recorded of the request. */
  RequestSpan span = RequestSpan.NONE;

  /** The id of the trace to which the request belongs; empty if none is known. */
  String traceId = "";

  /** The version that answers; empty until one does. */
  String version = "";

  /** The number of keys found so far. */
  long found;

  /** The number of keys looked up and not found so far. */
  long absent;

  /** The number of bytes of the answer's body written so far, if it is written in pieces. */
  long written;

  /** The number of bytes of the request's body received. */
  long bodyBytes;

  /** The number of bytes held for the request's body until it is answered. */
  long bodyHeld;

  /** The whole answer; null until there is one. */
  @Nullable Reply reply;

  Exchange(
      HttpConnection connection, String method, String uri, boolean http10, boolean keepAlive) {
    this.connection = connection;
    this.method = method;
    this.uri = uri;
    this.http10 = http10;
    this.memory = connection.share();
    this.keepAlive = keepAlive;
  }

  /** Returns how long ago the request's head arrived. */
  long nanos() {
    return System.nanoTime() - beganNanos;
  }

  boolean isHead() {
    return method.equals("HEAD");
  }

  /** Notes how many keys were looked up; called by one thread at a time, before completion. */
  void lookedUp(long hits, long misses) {
    found += hits;
    absent += misses;
  }

  /** Requires that the client may do something. */
  void require(Scope.Permission needed) throws RequestRefusedException {
    if (!scope.permissions().contains(needed)) {
      throw forbidden("this client lacks the permission \"" + needed.word() + "\"");
    }
  }

  /** Requires that the client may read keys of a data set. */
  void requireSet(String name) throws RequestRefusedException {
    if (!scope.reaches(name)) {
      throw forbidden("this client may not read this data set");
    }
  }

  private static RequestRefusedException forbidden(String why) {
    return new RequestRefusedException(
        403, why, "www-authenticate: Bearer realm=\"bsdb\", error=\"insufficient_scope\"\r\n");
  }

  /** Returns the answer that names the methods of a target, for every method but those. */
  Reply refuseMethod(String methods) {
    String all = methods + ", OPTIONS";
    String allow = "allow: " + all + "\r\n";
    return method.equals("OPTIONS")
        ? Reply.text(200, MediaType.BYTES, "").with(allow)
        : Reply.error(405, "the methods allowed here are " + all, allow);
  }

  /** Completes the exchange with a whole answer, from any thread. */
  void complete(Reply answer) {
    connection.complete(this, answer);
  }
}
