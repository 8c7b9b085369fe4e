package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.BadRequestException;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Connections.ClientConnection;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.Sending;

/**
 * One connection: receives requests, has them answered, and writes the answers in request order,
 * whatever the order in which they become ready.
 *
 * <p>Requests wait in {@code received} until they are started and in {@code begun} until they are
 * answered. None is started while the client does not read what was written for it, and nothing is
 * read from a client that has pipelined many requests, so memory is bounded by what one round of
 * reading brings. Bodies, values and answers are counted in {@link HeldMemory}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure closes the connection, which is noticed
final class HttpConnection extends ChannelInboundHandlerAdapter implements ClientConnection {
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

  private static final int HEAD_BYTES = 256;
  private static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(US_ASCII);

  private static final byte[] CRLF = "\r\n".getBytes(US_ASCII);
  private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(US_ASCII);

  private final Connections connections;
  private final Requests requests;
  private final RequestReader reader;
  private final RequestDecoder decoder;
  private final ArrayDeque<Exchange> received = new ArrayDeque<>();
  private final ArrayDeque<Exchange> begun = new ArrayDeque<>();
  private @Nullable ChannelHandlerContext context;
  private @Nullable Exchange receiving;
  private HeldMemory.@Nullable Connection memory;
  private HeldMemory.@Nullable Share bodies;
  private @Nullable Sending sending;
  private boolean pumping;
  private boolean heldBack;
  private boolean inputEnded;
  private boolean finished;
  private boolean gone;
  private long activeNanos = System.nanoTime();

  HttpConnection(
      Connections connections, Requests requests, RequestReader reader, RequestDecoder decoder) {
    this.connections = connections;
    this.requests = requests;
    this.reader = reader;
    this.decoder = decoder;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
    HeldMemory.Connection held =
        connections
            .memory()
            .connection(
                ctx.channel().remoteAddress() instanceof InetSocketAddress address
                    ? address.getAddress()
                    : null);
    memory = held;
    bodies = held.share();
    sending = new Sending(ctx, held.gathering(), patienceNanos(), this::taken);
    connections.opened(this);
    ctx.executor()
        .schedule(
            this::checkTime, connections.limits().request().toMillis(), TimeUnit.MILLISECONDS);
    ctx.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    finished = true;
    gone = true;
    connections.closed(this);
    for (Exchange exchange : begun) {
      if (exchange.reply() != null) {
        exchange.memory().settle(0);
      }
      Action action = exchange.action();
      if (action != null) {
        action.abandoned();
      }
    }
    requests.abandoned(begun.size() + received.size() + (receiving == null ? 0 : 1));
    bodies().settle(0);
    sending().gone();
    require(memory).end();
    begun.clear();
    received.clear();
    receiving = null;
    ctx.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    try {
      if (finished) {
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

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    flush();
  }

  private void begin(HttpRequest request) {
    Exchange exchange = reader.exchange(this, request);
    requests.began();
    receiving = exchange;
    Reply refusal = reader.refusal(exchange, request);
    if (refusal != null) {
      refuse(exchange, refusal);
    } else if (reader.expectsContinue(request)) {
      if (begun.isEmpty() && received.isEmpty()) {
        context().writeAndFlush(Unpooled.wrappedBuffer(CONTINUE));
      } // otherwise it would overtake earlier answers; clients send the body after a moment anyway
    }
  }

  /** Answers immediately a request whose rest is not worth reading, and closes the connection. */
  private void refuse(Exchange exchange, Reply refusal) {
    exchange.closeAfterwards();
    exchange.reply(refusal);
    receiving = null;
    received.add(exchange);
    pump();
    flush();
  }

  private void body(Exchange exchange, HttpContent content) {
    if (content.decoderResult().isFailure()) {
      refuse(exchange, Reply.error(400, "the request's body is malformed"));
      return;
    }
    ByteBuf piece = content.content();
    Action action = exchange.action();
    try {
      if (piece.isReadable()) {
        long all = exchange.bodyBytes() + piece.readableBytes();
        if (all > connections.limits().bodyBytes()) {
          throw new BadRequestException(413, reader.tooLarge());
        }
        if (!bodies().reserve(piece.readableBytes())) {
          refuse(exchange, Reply.TOO_MUCH_SENT);
          return;
        }
        exchange.bodyBytes(all);
        if (action != null) {
          action.body(piece);
        }
      }
      if (content instanceof LastHttpContent) {
        if (action != null) {
          action.bodyEnded();
        }
        receiving = null;
        decoder.requestComplete();
        received.add(exchange);
        pump();
        if (received.size() + begun.size() >= AHEAD
            || (!received.isEmpty() && bodies().bytes() >= BODIES_AHEAD)) {
          context().channel().config().setAutoRead(false);
        }
      }
    } catch (BadRequestException e) {
      refuse(exchange, Reply.error(e.status(), String.valueOf(e.getMessage())));
    }
  }

  /** Starts and answers every request that is ready. */
  private void pump() {
    if (pumping) {
      return;
    }
    pumping = true;
    try {
      boolean more = true;
      while (more && !finished) {
        answerReady();
        more = !finished && beginNext();
      }
      if (!finished) {
        afterwards();
      }
    } finally {
      pumping = false;
    }
  }

  private void answerReady() {
    for (Exchange first = begun.peek(); first != null && !finished; first = begun.peek()) {
      Reply reply = first.reply();
      if (first.ended()) {
        begun.poll();
        releaseBody(first);
        if (!first.keepAlive()) {
          finish();
        }
      } else if (reply != null) {
        begun.poll();
        releaseBody(first);
        answer(first, reply);
      } else {
        return;
      }
    }
  }

  /** Releases the memory held for the body of an answered request. */
  private void releaseBody(Exchange exchange) {
    long bytes = exchange.bodyBytes();
    if (bytes != 0) {
      bodies().settle(bodies().bytes() - bytes);
      exchange.bodyBytes(0);
    }
  }

  private boolean beginNext() {
    Exchange next = received.peek();
    if (next == null || !context().channel().isWritable()) {
      return false;
    }
    if (sending().isPending() && require(memory).isCrowded()) {
      heldBack = true; // until the client has read what is pending: flush or taken retries it
      return false;
    }
    Exchange last = begun.peekLast();
    if (last != null && !(overlaps(last) && overlaps(next) && begun.size() < OVERLAP)) {
      return false;
    }
    received.poll();
    begun.add(next);
    Action action = next.action();
    if (next.reply() == null && action != null) {
      try {
        action.start(next);
      } catch (BadRequestException e) {
        next.reply(Reply.error(e.status(), String.valueOf(e.getMessage())));
      } catch (RuntimeException e) {
        requests.failed(next, e);
        next.reply(Reply.FAILED);
      }
    }
    return true;
  }

  private static boolean overlaps(Exchange exchange) {
    Action action = exchange.action();
    return exchange.reply() != null || (action != null && action.overlaps());
  }

  private void afterwards() {
    Channel channel = context().channel();
    boolean idle = received.isEmpty() && begun.isEmpty();
    if (idle) {
      activeNanos = System.nanoTime();
      if (inputEnded && receiving == null) {
        finish();
      }
    }
    if (!channel.config().isAutoRead()
        && received.size() + begun.size() < AHEAD / 2
        && (received.isEmpty() || bodies().bytes() < BODIES_AHEAD)) {
      decoder.readingResumed();
      channel.config().setAutoRead(true);
    }
  }

  private void answer(Exchange exchange, Reply ready) {
    Reply reply = ready;
    boolean sent = !exchange.isHead();
    if (sent && !exchange.memory().reserveUpTo(reply.body().length)) {
      reply = Reply.FULL; // for answers without a lookup, such as pages
    }
    exchange.memory().settle(sent ? reply.body().length : 0);
    if (connections.draining() && begun.isEmpty() && received.isEmpty() && !decoder.holdsMore()) {
      exchange.closeAfterwards(); // pipelined requests are answered first
    }
    byte[] body = reply.body();
    boolean copied = body.length <= COPIED;
    ByteBuf out =
        context()
            .alloc()
            .buffer(HEAD_BYTES + reply.headers().length() + (copied ? body.length : 0));
    ResponseHead.write(
        out,
        reply.status(),
        reply.type(),
        reply.status() == 304 ? ResponseHead.NO_BODY : body.length,
        exchange.keepAlive(),
        exchange.http10(),
        reply.headers());
    boolean withBody = body.length > 0 && sent;
    if (withBody && copied) {
      out.writeBytes(body);
    }
    write(out);
    if (withBody && !copied) {
      write(Unpooled.wrappedBuffer(body));
    }
    sending().takeOver(exchange.memory());
    requests.ended(exchange, reply.status(), withBody ? body.length : 0);
    if (!exchange.keepAlive()) {
      finish();
    }
  }

  private void write(ByteBuf bytes) {
    sending().write(bytes);
  }

  /** Sends what was written, as far as the client reads it. */
  private void flush() {
    sending().flush();
    while (heldBack && !pumping && !finished && !sending().isPending()) {
      heldBack =
          false; // all was sent immediately, and nothing else will retry the waiting requests
      pump();
      sending().flush();
    }
  }

  /** Called when everything written before the marker was sent. */
  private void taken() {
    if (gone) {
      return;
    }
    if (!finished) {
      pump();
    }
    flush();
  }

  /** Returns how long a client may read nothing, or an answer may stall. */
  long patienceNanos() {
    return connections.limits().request().toNanos();
  }

  /** Sends nothing more, but lets the client read what was sent: a reset would discard it. */
  private void finish() {
    if (finished) {
      return;
    }
    finished = true;
    requests.abandoned(received.size() + (receiving == null ? 0 : 1));
    received.forEach(this::releaseBody);
    received.clear();
    if (receiving != null) {
      releaseBody(receiving);
      receiving = null;
    }
    sending().end(inputEnded);
  }

  /** Completes an exchange, from any thread. */
  void complete(Exchange exchange, Reply reply) {
    ChannelHandlerContext ctx = context();
    if (!ctx.executor().inEventLoop()) {
      ctx.executor().execute(() -> complete(exchange, reply));
      return;
    }
    exchange.reply(reply);
    if (gone) {
      exchange.memory().settle(0);
    }
    if (!pumping && !finished) {
      pump();
      flush();
    }
  }

  /** Runs a task on the connection's event loop. */
  void onLoop(Runnable task) {
    context().executor().execute(task);
  }

  /** Runs a task on the connection's event loop after a delay. */
  void later(Runnable task, long millis) {
    context().executor().schedule(task, millis, TimeUnit.MILLISECONDS);
  }

  /** Returns a new share of memory held for this connection. */
  HeldMemory.Share share() {
    return require(memory).share();
  }

  private HeldMemory.Share bodies() {
    return require(bodies);
  }

  private Sending sending() {
    return require(sending);
  }

  void beginPieces(Exchange exchange, int status, MediaType type, String headers) {
    if (exchange.http10()) {
      exchange.closeAfterwards();
    }
    ByteBuf out = context().alloc().buffer(HEAD_BYTES + headers.length());
    long length = exchange.http10() ? ResponseHead.TO_THE_END : ResponseHead.CHUNKED;
    ResponseHead.write(out, status, type, length, exchange.keepAlive(), exchange.http10(), headers);
    write(out);
  }

  boolean piece(Exchange exchange, ByteBuf bytes, boolean last) {
    if (finished) {
      bytes.release();
      exchange.memory().settle(0);
      return false;
    }
    exchange.count(bytes.readableBytes());
    boolean chunked = !exchange.http10();
    if (!bytes.isReadable()) {
      bytes.release(); // an empty chunk would end the body
    } else if (chunked) {
      ByteBuf head = context().alloc().buffer(16);
      head.writeCharSequence(Integer.toHexString(bytes.readableBytes()) + "\r\n", US_ASCII);
      write(head);
      write(bytes);
      write(Unpooled.wrappedBuffer(CRLF));
    } else {
      write(bytes);
    }
    sending().takeOver(exchange.memory());
    if (last) {
      if (chunked && !exchange.isHead()) {
        write(Unpooled.wrappedBuffer(LAST_CHUNK));
      }
      exchange.end();
      requests.ended(exchange, 200, exchange.written());
      pump();
    }
    flush();
    return !finished && context().channel().isWritable();
  }

  /** Allocates a buffer for a piece of an answer. */
  ByteBuf buffer(int capacity) {
    return context().alloc().buffer(capacity);
  }

  /** Returns the client's address. */
  String client() {
    return context().channel().remoteAddress() instanceof InetSocketAddress address
        ? address.getAddress().getHostAddress()
        : "-";
  }

  @Override
  public void cut() {
    context().close();
  }

  @Override
  public void endIfIdle() {
    onLoop(
        () -> {
          if (!finished && received.isEmpty() && begun.isEmpty() && !decoder.holdsMore()) {
            finish();
          }
        });
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (ctx.channel().isWritable() && !finished) {
      Exchange first = begun.peek();
      Action action = first == null ? null : first.action();
      if (action != null) {
        action.resume();
      }
      pump();
      flush();
    }
    ctx.fireChannelWritabilityChanged();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent || event instanceof SslCloseCompletionEvent) {
      inputEnded = true;
      if (finished) {
        ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      } else {
        if (receiving != null) {
          Exchange cut = receiving;
          refuse(cut, Reply.error(400, "the request's body is incomplete"));
        }
        pump();
        flush();
      }
    } else if (event instanceof SslHandshakeCompletionEvent handshake && !handshake.isSuccess()) {
      ctx.close();
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof IOException) && !(cause instanceof DecoderException)) {
      requests.failed(null, cause);
    }
    ctx.close();
  }

  /**
   * Closes a connection that is too slow or idle for too long; otherwise schedules the next check.
   */
  private void checkTime() {
    Channel channel = context().channel();
    if (!channel.isOpen()) {
      return;
    }
    long now = System.nanoTime();
    long request = connections.limits().request().toNanos();
    long since = decoder.receivingSinceNanos();
    long left;
    if (sending().isChecked() || !received.isEmpty() || !begun.isEmpty()) {
      left = request; // reading of answers is checked separately
    } else if (since != 0 && !finished) {
      left = since + request - now;
      if (left <= 0) {
        tooSlow();
        left = request;
      }
    } else {
      left = activeNanos + connections.limits().idle().toNanos() - now;
    }
    if (left <= 0) {
      channel.close();
      return;
    }
    context()
        .executor()
        .schedule(this::checkTime, Math.min(left, request) + 1_000_000, TimeUnit.NANOSECONDS);
  }

  private void tooSlow() {
    if (receiving == null) {
      requests.began();
    }
    Exchange late = receiving != null ? receiving : new Exchange(this, "-", "-", false, false);
    refuse(late, Reply.error(408, "the request took too long to arrive"));
  }

  private ChannelHandlerContext context() {
    return require(context);
  }

  private static <T> T require(@Nullable T opened) {
    if (opened == null) {
      throw new IllegalStateException("the connection is not open");
    }
    return opened;
  }
}
