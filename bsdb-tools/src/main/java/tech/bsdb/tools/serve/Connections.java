package tech.bsdb.tools.serve;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The open connections and their shared state. Thread-safe. */
final class Connections {
  private final Set<HttpConnection> open = ConcurrentHashMap.newKeySet();
  private final ServeOptions.Limits limits;
  private final Requests requests;
  private volatile boolean draining;

  Connections(ServeOptions.Limits limits, Requests requests) {
    this.limits = limits;
    this.requests = requests;
  }

  ServeOptions.Limits limits() {
    return limits;
  }

  Requests requests() {
    return requests;
  }

  void opened(HttpConnection connection) {
    open.add(connection);
  }

  void closed(HttpConnection connection) {
    open.remove(connection);
  }

  int count() {
    return open.size();
  }

  /** Whether every connection closes after its next answer. */
  boolean draining() {
    return draining;
  }

  /** Sets whether connections close after their next answer, so that clients go elsewhere. */
  void drain(boolean drain) {
    draining = drain;
  }

  /** Closes the idle connections. */
  void endIdle() {
    open.forEach(HttpConnection::endIfIdle);
  }

  /** Closes all connections, including busy ones. */
  void cut() {
    open.forEach(connection -> connection.onLoop(connection::cut));
  }
}
