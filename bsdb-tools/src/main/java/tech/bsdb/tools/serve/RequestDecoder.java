package tech.bsdb.tools.serve;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/**
 * Takes requests off a connection and notes since when one is on its way. What could be read in two
 * ways, and so be smuggled past another server, is refused (RFC 9112, sections 6.1 and 11.2).
 */
final class RequestDecoder extends HttpRequestDecoder {
  /** Octets of a request line. */
  static final int MAX_LINE = 16 << 10;

  /** Octets of all header lines together. */
  static final int MAX_HEADERS = 16 << 10;

  private static final int MAX_CHUNK = 64 << 10;

  private long receivingSince;
  private boolean receiving;
  private boolean wholeRequest = true;

  RequestDecoder() {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_LINE)
            .setMaxHeaderSize(MAX_HEADERS)
            .setMaxChunkSize(MAX_CHUNK)
            .setUseRfc9112TransferEncoding(true)
            .setValidateHeaders(true));
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
    if (!receiving) {
      receiving = true;
      receivingSince = System.nanoTime();
    }
    super.channelRead(ctx, msg);
    if (receiving && !holdsMore()) {
      receiving = false;
    }
  }

  /** A request's first line was read; its headers may be long in coming. */
  @Override
  protected HttpMessage createMessage(String[] initialLine) throws Exception {
    wholeRequest = false;
    return super.createMessage(initialLine);
  }

  /** Notes that a request is whole, so that the time begins anew for what came behind it. */
  void requestIsWhole() {
    wholeRequest = true;
    receivingSince = System.nanoTime();
  }

  /** Whether something of another request is here already. */
  boolean holdsMore() {
    return !wholeRequest || actualReadableBytes() > 0;
  }

  /** Notes that reading goes on, so that a pause of ours is not counted as the client's. */
  void goesOn() {
    receivingSince = System.nanoTime();
  }

  /** Since when a request is being received, or 0 if none is. */
  long receivingSinceNanos() {
    return receiving ? receivingSince : 0;
  }

  @Override
  protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
    throw new IllegalArgumentException("both a length and a transfer coding");
  }
}
