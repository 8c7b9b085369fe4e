package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaders;
import tech.bsdb.tools.serve.batch.BadRequestException;

/** Which action answers a request. Thread-safe. */
interface Routes {
  /** Whether a target may be asked for without a token. */
  boolean open(RequestTarget target);

  /**
   * What answers a request whose head is there.
   *
   * @throws RequestRefusedException with the answer, if it is not taken
   * @throws BadRequestException if it is not well-formed; the connection ends then
   */
  Action action(RequestTarget target, Exchange exchange, HttpHeaders headers)
      throws RequestRefusedException, BadRequestException;
}
