package tech.bsdb.tools.serve.client;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The open connections and their shared state. Thread-safe. */
public final class Connections {
  private final Set<ClientConnection> open = ConcurrentHashMap.newKeySet();
  private final Limits limits;
  private final HeldMemory memory;
  private volatile boolean draining;

  /**
   * Limits on clients.
   *
   * @param connections maximum open connections
   * @param inFlight maximum lookups started and not yet answered
   * @param bodyBytes maximum bytes of a request's body
   * @param batchKeys maximum keys of a batch
   * @param heldBytes maximum bytes held for clients: unanswered bodies, values from just before
   *     they are read, answers not yet read
   * @param clientBytes maximum bytes held for one client
   * @param request how long a client may take to send a request, or to read some of an answer
   * @param idle how long a connection may stay open without a request
   * @param drain how long shutdown waits for requests in flight
   */
  public record Limits(
      int connections,
      int inFlight,
      int bodyBytes,
      int batchKeys,
      long heldBytes,
      long clientBytes,
      Duration request,
      Duration idle,
      Duration drain) {}

  /**
   * Starts with no connections.
   *
   * @param memory the memory held for their clients
   */
  public Connections(Limits limits, HeldMemory memory) {
    this.limits = limits;
    this.memory = memory;
  }

  /** Returns the limits on clients. */
  public Limits limits() {
    return limits;
  }

  /** Returns the memory held for clients. */
  public HeldMemory memory() {
    return memory;
  }

  /** Adds a connection. */
  public void opened(ClientConnection connection) {
    open.add(connection);
  }

  /** Removes a connection. */
  public void closed(ClientConnection connection) {
    open.remove(connection);
  }

  /** Returns the number of open connections. */
  public int count() {
    return open.size();
  }

  /** Returns the open connections of a protocol. */
  public <T extends ClientConnection> Stream<T> of(Class<T> protocol) {
    return open.stream().filter(protocol::isInstance).map(protocol::cast);
  }

  /** Whether there are as many connections as the limits allow. */
  public boolean areFull() {
    return open.size() >= limits.connections();
  }

  /** Whether every connection closes after its next answer. */
  public boolean draining() {
    return draining;
  }

  /** Sets whether connections close after their next answer, so that clients go elsewhere. */
  public void drain(boolean drain) {
    draining = drain;
  }

  /** Closes the idle connections. */
  public void endIdle() {
    open.forEach(ClientConnection::endIfIdle);
  }

  /** Closes all connections, including busy ones. */
  public void cut() {
    open.forEach(ClientConnection::cut);
  }
}
