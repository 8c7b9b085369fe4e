package tech.bsdb.tools.serve;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The connections that are open, and what they share. Thread-safe. */
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

  void opened(HttpConnection conversation) {
    open.add(conversation);
  }

  void closed(HttpConnection conversation) {
    open.remove(conversation);
  }

  int count() {
    return open.size();
  }

  /** Whether every connection ends behind the next answer. */
  boolean draining() {
    return draining;
  }

  /** Says whether connections end behind their next answers, so that clients go elsewhere. */
  void drain(boolean drain) {
    draining = drain;
  }

  /** Ends the connections on which nothing is under way. */
  void endIdle() {
    open.forEach(HttpConnection::endIfIdle);
  }

  /** Ends all of them, whatever is under way. */
  void cut() {
    open.forEach(conversation -> conversation.onLoop(conversation::cut));
  }
}
