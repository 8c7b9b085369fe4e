package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.RequestRefusedException;

/** Answers one request. Everything except completion happens on the connection's event loop. */
interface Action {
  /** Takes a piece of the request's body, which belongs to the caller again afterwards. */
  default void body(ByteBuf piece) throws RequestRefusedException {
    // an unexpected body is ignored
  }

  /** Returns the bytes kept for the body besides those of the body itself. */
  default long keptBesidesBody() {
    return 0;
  }

  /** Called when the body is complete. */
  default void bodyEnded() throws RequestRefusedException {}

  /**
   * Starts answering. The exchange is completed exactly once, immediately or later, by any thread.
   */
  void start(Exchange exchange);

  /** Whether it may start before the preceding requests are answered. */
  default boolean overlaps() {
    return false;
  }

  /**
   * Returns the routes of the keys of the data set, if this answers with the value of a key and
   * nothing else in the request matters; otherwise null.
   */
  default @Nullable KeyRoutes plainRoutes() {
    return null;
  }

  /** Continues an answer in pieces: the client has read what was written. */
  default void resume() {}

  /** Called when the connection is gone; nothing more is written. */
  default void abandoned() {}
}
