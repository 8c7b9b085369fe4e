package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaders;
import tech.bsdb.tools.serve.batch.RequestRefusedException;

/** Finds the action that answers a request. Thread-safe. */
interface Routes {
  /** Whether a target may be requested without a token. */
  boolean open(RequestTarget target);

  /**
   * Finds the action that answers a request whose head has arrived.
   *
   * @return the action; a {@link Reply} rejects the request
   * @throws RequestRefusedException which rejects it in the same way
   */
  Action action(RequestTarget target, Exchange exchange, HttpHeaders headers)
      throws RequestRefusedException;
}
