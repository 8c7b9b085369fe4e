package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.ClientConnection;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.HeldMemory;

/**
 * One connection: receives requests, has them answered, and writes the answers in request order,
 * whatever the order in which they become ready.
 *
 * <p>Requests wait in {@code received} until they are started and in {@code begun} until they are
 * answered. None is started while the client does not read what was written for it, and nothing is
 * read from a client that has pipelined many requests, so memory is bounded by what one round of
 * reading brings. Bodies, values and answers are counted in {@link HeldMemory}.
 */
final class HttpConnection extends ClientConnection {
  /** Maximum number of overlapping lookups on one connection. */
  private static final int OVERLAP = 64;

  /** Number of waiting requests at which reading pauses. */
  private static final int AHEAD = 128;

  /** Bytes of bodies waiting behind another request at which reading pauses. */
  private static final long BODIES_AHEAD = 1 << 20;

  /**
   * Values up to this size are copied behind their head; larger ones are passed on without a copy.
   */
  private static final int COPIED = 64 << 10;

  private static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(US_ASCII);

  private static final String LAST_CHUNK = "0\r\n\r\n";

  /** More bytes than what is written around a chunk. */
  private static final int CHUNK_BYTES = 32;

  private final Requests requests;
  private final RequestReader reader;
  private final RequestDecoder decoder;
  private final ArrayDeque<Exchange> received = new ArrayDeque<>();
  private final ArrayDeque<Exchange> begun = new ArrayDeque<>();
  private final HeldMemory.Share bodies = share();
  private @Nullable Exchange receiving;
  private @Nullable KeyRoutes plain;
  private long activeNanos = System.nanoTime();

  HttpConnection(
      Connections connections,
      Channel channel,
      Requests requests,
      RequestReader reader,
      RequestDecoder decoder) {
    super(connections, channel);
    this.requests = requests;
    this.reader = reader;
    this.decoder = decoder;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    try {
      if (isFinished()) {
        return;
      }
      if (message instanceof HttpRequest request) {
        begin(request);
      }
      if (message instanceof HttpContent content && receiving != null) {
        body(receiving, content);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void begin(HttpRequest request) {
    plain = null;
    Exchange exchange = reader.exchange(this, request);
    requests.began();
    receiving = exchange;
    Reply refusal = reader.refusal(exchange, request);
    requests.routed(exchange, request.headers());
    if (refusal != null) {
      refuse(exchange, refusal);
    } else if (reader.expectsContinue(request)) {
      if (begun.isEmpty() && received.isEmpty()) {
        write(Unpooled.wrappedBuffer(CONTINUE));
        send();
      } // otherwise it would overtake earlier answers; clients send the body after a moment anyway
    }
  }

  /** Answers immediately a request whose rest is not worth reading, and closes the connection. */
  private void refuse(Exchange exchange, Reply refusal) {
    exchange.keepAlive = false;
    exchange.action = refusal;
    receiving = null;
    received.add(exchange);
    serve();
  }

  private void body(Exchange exchange, HttpContent content) {
    if (content.decoderResult().isFailure()) {
      refuse(exchange, Reply.error(400, "the request's body is malformed"));
      return;
    }
    ByteBuf piece = content.content();
    try {
      if (piece.isReadable()) {
        long all = exchange.bodyBytes + piece.readableBytes();
        if (all > connections().limits().bodyBytes()) {
          throw new RequestRefusedException(413, reader.tooLarge());
        }
        if (!holdBody(exchange, exchange.bodyHeld + piece.readableBytes())) {
          return;
        }
        exchange.bodyBytes = all;
        exchange.action.body(piece);
      }
      boolean last = content instanceof LastHttpContent;
      if (last) {
        exchange.action.bodyEnded();
      }
      if (!holdBody(exchange, exchange.bodyBytes + exchange.action.keptBesidesBody())) {
        return;
      }
      if (last) {
        receiving = null;
        decoder.requestComplete();
        received.add(exchange);
        pump();
        if (received.size() + begun.size() >= AHEAD
            || (!received.isEmpty() && bodies.bytes() >= BODIES_AHEAD)) {
          channel().config().setAutoRead(false);
        }
      }
    } catch (RequestRefusedException e) {
      refuse(exchange, Reply.of(e));
    }
  }

  /** Holds memory for a body that is being received; refuses the request if there is none. */
  private boolean holdBody(Exchange exchange, long bytes) {
    long more = bytes - exchange.bodyHeld;
    if (more != 0 && !bodies.reserve(more)) {
      refuse(exchange, Reply.TOO_MUCH_SENT);
      return false;
    }
    exchange.bodyHeld = bytes;
    return true;
  }

  /** Answers every request that is ready, and starts the next. */
  @Override
  protected boolean advance() {
    answerReady();
    return !isFinished() && beginNext();
  }

  private void answerReady() {
    for (Exchange first = begun.peek(); first != null && !isFinished(); first = begun.peek()) {
      Reply reply = first.reply;
      if (reply == null) {
        return;
      }
      begun.poll();
      releaseBody(first);
      answer(first, reply);
    }
  }

  /** Releases the memory held for the body of an answered request. */
  private void releaseBody(Exchange exchange) {
    long bytes = exchange.bodyHeld;
    if (bytes != 0) {
      bodies.settle(bodies.bytes() - bytes);
      exchange.bodyHeld = 0;
    }
  }

  private boolean beginNext() {
    Exchange next = received.peek();
    if (next == null || !clientReads()) {
      return false;
    }
    Exchange last = begun.peekLast();
    if (last != null
        && !(last.action.overlaps() && next.action.overlaps() && begun.size() < OVERLAP)) {
      return false;
    }
    received.poll();
    begun.add(next);
    try {
      next.action.start(next);
    } catch (RuntimeException e) {
      requests.failed(next, e);
      next.reply = Reply.FAILED;
    }
    return true;
  }

  @Override
  protected void advanced() {
    if (received.isEmpty() && begun.isEmpty()) {
      active(System.nanoTime());
      if (inputEnded() && receiving == null) {
        finish();
      }
    }
    if (!channel().config().isAutoRead()
        && received.size() + begun.size() < AHEAD / 2
        && (received.isEmpty() || bodies.bytes() < BODIES_AHEAD)) {
      decoder.readingResumed();
      channel().config().setAutoRead(true);
    }
  }

  private void answer(Exchange exchange, Reply ready) {
    Reply reply = ready;
    boolean sent = !exchange.isHead();
    if (sent && !exchange.memory.reserveUpTo(reply.body().length)) {
      reply = Reply.FULL; // for answers without a lookup, such as pages
    }
    exchange.memory.settle(sent ? reply.body().length : 0);
    if (connections().draining() && isIdle()) {
      exchange.keepAlive = false; // pipelined requests are answered first
    }
    byte[] body = reply.body();
    boolean copied = body.length <= COPIED;
    long length = reply.status() == 304 ? ResponseHead.NO_BODY : body.length;
    boolean withBody = body.length > 0 && sent;
    ByteBuf out = head(exchange, reply, length, copied && withBody ? body.length : 0);
    if (withBody && copied) {
      out.writeBytes(body);
    }
    write(out);
    if (withBody && !copied) {
      write(Unpooled.wrappedBuffer(body));
    }
    takeOver(exchange.memory);
    ended(exchange, reply.status(), withBody ? body.length : 0);
  }

  private void ended(Exchange exchange, int status, long bodyBytes) {
    requests.ended(exchange, status, bodyBytes);
    if (!exchange.keepAlive) {
      finish();
    }
  }

  /** Returns a buffer with the head of an answer, and with room for what follows it. */
  private ByteBuf head(Exchange exchange, Reply reply, long length, int room) {
    String head = ResponseHead.of(reply, length, exchange);
    return channel().alloc().buffer(head.length() + room).writeBytes(head.getBytes(ISO_8859_1));
  }

  /** Completes an exchange, from any thread. */
  void complete(Exchange exchange, Reply reply) {
    if (!channel().eventLoop().inEventLoop()) {
      onLoop(() -> complete(exchange, reply));
      return;
    }
    exchange.reply = reply;
    if (isGone()) {
      exchange.memory.settle(0);
    }
    serve();
  }

  /**
   * Begins an answer in pieces, on the event loop, to the exchange that is first in line.
   *
   * @param start the answer without its body
   */
  void beginPieces(Exchange exchange, Reply start) {
    if (exchange.http10) {
      exchange.keepAlive = false;
    }
    long length = exchange.http10 ? ResponseHead.TO_THE_END : ResponseHead.CHUNKED;
    write(head(exchange, start, length, 0));
  }

  /**
   * Writes a piece of an answer's body, on the event loop; the answer to HEAD has one empty piece.
   * The memory held for the exchange is then held for the connection until the client has read the
   * piece.
   *
   * @param bytes begins with the piece
   * @return whether the client can take more; if not, {@link Action#resume} is called when it can
   */
  boolean piece(Exchange exchange, byte[] bytes, int length, boolean last) {
    if (isFinished()) {
      exchange.memory.settle(0);
      return false;
    }
    exchange.written += length;
    boolean chunked = !exchange.http10 && !exchange.isHead();
    ByteBuf out = channel().alloc().buffer(length + CHUNK_BYTES);
    if (chunked && length > 0) { // an empty chunk would end the body
      out.writeCharSequence(Integer.toHexString(length) + "\r\n", US_ASCII);
    }
    out.writeBytes(bytes, 0, length);
    if (chunked) {
      out.writeCharSequence((length > 0 ? "\r\n" : "") + (last ? LAST_CHUNK : ""), US_ASCII);
    }
    write(out);
    takeOver(exchange.memory);
    if (last) {
      begun.poll();
      releaseBody(exchange);
      ended(exchange, 200, exchange.written);
      pump();
    }
    flush();
    return !isFinished() && channel().isWritable();
  }

  /** Returns the client's address. */
  String client() {
    return channel().remoteAddress() instanceof InetSocketAddress address
        ? address.getAddress().getHostAddress()
        : "-";
  }

  /** Whether everything that has arrived is answered, and the client has read it all. */
  boolean isQuiet() {
    return receiving == null
        && isIdle()
        && !isPending()
        && channel().isWritable()
        && !connections().draining()
        && !inputEnded()
        && !isFinished();
  }

  /**
   * Notes that a plain GET was received, one whose headers change nothing about its answer.
   *
   * @param routes the routes of the keys of its data set; null to forget the last one
   */
  void plain(@Nullable KeyRoutes routes) {
    plain = routes;
  }

  /** Returns the routes of the plain GET that was received last; null if there was none. */
  @Nullable KeyRoutes plain() {
    return plain;
  }

  /** Records that the connection was in use, so that it is not idle until later. */
  void active(long nanos) {
    activeNanos = nanos;
  }

  @Override
  protected boolean isIdle() {
    return received.isEmpty() && begun.isEmpty() && !decoder.holdsMore();
  }

  @Override
  protected void resume() {
    Exchange first = begun.peek();
    if (first != null) {
      first.action.resume();
    }
  }

  @Override
  protected void inputCut() {
    if (receiving != null) {
      refuse(receiving, Reply.error(400, "the request's body is incomplete"));
    }
  }

  @Override
  protected void discard() {
    if (receiving != null) {
      received.add(receiving);
      receiving = null;
    }
    received.forEach(requests::abandoned);
    received.forEach(this::releaseBody);
    received.clear();
  }

  @Override
  protected void release() {
    for (Exchange exchange : begun) {
      if (exchange.reply != null) {
        exchange.memory.settle(0);
      }
      exchange.action.abandoned();
    }
    begun.forEach(requests::abandoned);
    begun.clear();
    bodies.settle(0);
  }

  @Override
  protected void failed(Throwable cause) {
    requests.failed(null, cause);
  }

  @Override
  protected long nanosLeft(long now) {
    if (isChecked() || !received.isEmpty() || !begun.isEmpty()) {
      return patienceNanos(); // reading of answers is checked separately
    }
    long since = decoder.receivingSinceNanos();
    if (since == 0 || isFinished()) {
      return activeNanos + connections().limits().idle().toNanos() - now;
    }
    long left = since + patienceNanos() - now;
    if (left > 0) {
      return left;
    }
    if (receiving == null) {
      requests.began();
    }
    Exchange late = receiving != null ? receiving : new Exchange(this, "-", "-", false, false);
    refuse(late, Reply.error(408, "the request took too long to arrive"));
    return patienceNanos();
  }
}
