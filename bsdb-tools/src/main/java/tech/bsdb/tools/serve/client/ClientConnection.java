package tech.bsdb.tools.serve.client;

/** A connection, as seen by those who end it. Its methods may be called from any thread. */
public interface ClientConnection {
  /** Closes the connection if it is idle. */
  void endIfIdle();

  /** Closes the connection, even in the middle of an answer. */
  void cut();
}
