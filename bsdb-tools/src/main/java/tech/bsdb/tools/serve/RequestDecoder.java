package tech.bsdb.tools.serve;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/**
 * Decodes a connection's requests and records since when one has been arriving. Rejects requests
 * that can be read in two ways and so smuggled past another server (RFC 9112, sections 6.1 and
 * 11.2).
 */
final class RequestDecoder extends HttpRequestDecoder {
  /** Maximum octets of a request line. */
  static final int MAX_LINE = 16 << 10;

  /** Maximum octets of all header lines together. */
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

  /** Called when a request's first line has been read; its headers may take long to arrive. */
  @Override
  protected HttpMessage createMessage(String[] initialLine) throws Exception {
    wholeRequest = false;
    return super.createMessage(initialLine);
  }

  /** Records that a request is complete, so that the time restarts for what follows it. */
  void requestComplete() {
    wholeRequest = true;
    receivingSince = System.nanoTime();
  }

  /** Whether part of another request has already arrived. */
  boolean holdsMore() {
    return !wholeRequest || actualReadableBytes() > 0;
  }

  /** Records that reading resumes, so that the server's own pause is not blamed on the client. */
  void readingResumed() {
    receivingSince = System.nanoTime();
  }

  /** Returns since when a request has been arriving, or 0 if none is. */
  long receivingSinceNanos() {
    return receiving ? receivingSince : 0;
  }

  @Override
  protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
    throw new IllegalArgumentException("both a length and a transfer coding");
  }
}
