package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import tech.bsdb.tools.serve.batch.BadRequestException;

/** What answers one request. All but the completion happens on the connection's event loop. */
interface Action {
  /** Takes a piece of the request's body, which is the caller's again afterwards. */
  default void body(ByteBuf piece) throws BadRequestException {
    // a body that nobody asked for counts for nothing
  }

  /** Hears that the body is complete. */
  default void bodyEnded() throws BadRequestException {}

  /**
   * Begins to answer. The exchange is completed exactly once, at once or later, by any thread.
   *
   * @throws BadRequestException if it cannot be answered
   */
  void start(Exchange exchange) throws BadRequestException;

  /** Whether it may be begun before the requests in front of it are answered. */
  default boolean overlaps() {
    return false;
  }

  /** Goes on with an answer in pieces, since the client has taken what was written. */
  default void resume() {}

  /** Hears that the connection is gone; nothing more is written. */
  default void abandoned() {}
}
