package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaders;
import tech.bsdb.tools.serve.batch.BadRequestException;

/** Finds the action that answers a request. Thread-safe. */
interface Routes {
  /** Whether a target may be requested without a token. */
  boolean open(RequestTarget target);

  /**
   * Returns the action that answers a request whose head has arrived.
   *
   * @throws RequestRefusedException with the answer, if the request is rejected
   * @throws BadRequestException if the request is malformed; the connection then closes
   */
  Action action(RequestTarget target, Exchange exchange, HttpHeaders headers)
      throws RequestRefusedException, BadRequestException;
}
