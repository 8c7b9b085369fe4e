package tech.bsdb.tools.serve.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection, whatever its protocol: answers what has arrived, sends the answers as far
 * as the client reads them, and ends without losing any. It is the last handler of its channel.
 *
 * <p>A protocol takes what arrives in {@link #channelRead} and answers it in {@link #advance}, a
 * step at a time. What is written and not read by the client counts as {@link HeldMemory}; a client
 * that reads nothing for too long is cut off. Confined to the channel's event loop, except for
 * {@link #cut} and {@link #endIfIdle}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure closes the connection, which is noticed
public abstract class ClientConnection extends ChannelInboundHandlerAdapter {
  /** How long a client may go on sending after the last answer. */
  private static final long LINGER_NANOS = 2_000_000_000L;

  /** Maximum time between checks whether a client is reading its answer. */
  private static final long CHECK_NANOS = 1_000_000_000L;

  private final Connections connections;
  private final Channel channel;
  private final HeldMemory.Connection memory;
  private final HeldMemory.Share unsent;
  private final long patienceNanos;
  private Progress progress = new Progress(0, 0, 0);
  private long progressNanos;
  private long writes;
  private boolean watching;
  private boolean checking;
  private boolean pumping;
  private boolean stalled;
  private boolean inputEnded;
  private boolean finished;
  private volatile boolean gone;
  private @Nullable Future<?> timer;
  private List<String> certificate = List.of();

  /**
   * How much a client has read.
   *
   * @param writes buffers written so far, which tells apart two otherwise equal states
   * @param pending bytes pending, counted until their buffer is sent completely
   * @param current bytes of the first pending buffer already sent
   */
  private record Progress(long writes, long pending, long current) {}

  /**
   * A connection that has just been accepted.
   *
   * @param connections those that it is one of, once it is active
   */
  protected ClientConnection(Connections connections, Channel channel) {
    this.connections = connections;
    this.channel = channel;
    this.memory =
        connections
            .memory()
            .connection(
                channel.remoteAddress() instanceof InetSocketAddress address
                    ? address.getAddress()
                    : null);
    this.unsent = memory.gathering();
    this.patienceNanos = connections.limits().request().toNanos();
  }

  /**
   * Does the next step of answering what has arrived.
   *
   * @return false if there is nothing to do, or not now
   */
  protected abstract boolean advance();

  /** Decides whether more is read. Called after the last step, unless the connection ends. */
  protected abstract void advanced();

  /** Whether nothing of a request has arrived that is not answered. */
  protected abstract boolean isIdle();

  /**
   * Returns how long the connection may stay as it is: if not positive, it is closed. Asked again
   * after that time, or after the time limit of a request if that is sooner.
   */
  protected abstract long nanosLeft(long now);

  /** Drops what has arrived and is not being answered: the connection ends. */
  protected abstract void discard();

  /** Releases the rest: the connection is gone. Called once, after {@link #discard}. */
  protected abstract void release();

  /** Reports a failure that is not the client's fault. */
  protected abstract void failed(Throwable cause);

  /** Writes answers that were not written when they were made. */
  protected void writeAnswers() {}

  /** Continues an answer in pieces: the client has read what was written. */
  protected void resume() {}

  /** Called when it is known whose {@link #certificate} the client has shown, if any. */
  protected void identified() {}

  /** Answers a request whose rest will not arrive. */
  protected void inputCut() {}

  @Override
  public final void channelActive(ChannelHandlerContext context) {
    connections.opened(this);
    checkTime();
  }

  @Override
  public final void channelInactive(ChannelHandlerContext context) {
    gone = true;
    try {
      if (!finished) {
        finished = true;
        discard();
      }
      release();
      Future<?> scheduled = timer;
      if (scheduled != null) {
        scheduled.cancel(false);
      }
      unsent.settle(0);
      memory.end();
    } finally {
      connections.closed(this); // what it had has been given back, and told
    }
  }

  @Override
  public final void channelReadComplete(ChannelHandlerContext context) {
    if (!gone) {
      flush();
    }
  }

  @Override
  public final void channelWritabilityChanged(ChannelHandlerContext context) {
    if (channel.isWritable() && !finished) {
      resume();
      if (stalled) { // else a step may be sending its answer just now
        serve();
      }
    }
  }

  @Override
  public final void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent || event instanceof SslCloseCompletionEvent) {
      inputEnded = true;
      if (finished) {
        end();
      } else {
        inputCut();
        serve();
      }
    } else if (event instanceof SslHandshakeCompletionEvent handshake) {
      SslHandler tls = channel.pipeline().get(SslHandler.class);
      if (tls == null || !handshake.isSuccess()) {
        cut();
      } else {
        certificate = ClientCertificate.names(tls.engine().getSession());
        identified();
      }
    }
  }

  @Override
  public final void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (!(cause instanceof IOException) && !(cause instanceof DecoderException)) {
      failed(cause);
    }
    cut();
  }

  /** Answers what can be answered, and sends it. Does nothing inside {@link #pump}. */
  protected final void serve() {
    if (!pumping && !gone) {
      pump();
      flush();
    }
  }

  /** Answers what can be answered; {@link #flush} sends it. Does nothing if it is under way. */
  protected final void pump() {
    if (pumping) {
      return;
    }
    pumping = true;
    stalled = false;
    try {
      boolean more = true;
      while (more && !finished) {
        more = advance();
      }
      if (!finished) {
        advanced();
      }
    } finally {
      pumping = false;
    }
  }

  /**
   * Whether the client reads what was written, so that more may be answered. If not, {@link #pump}
   * is called again when it has.
   */
  protected final boolean clientReads() {
    stalled = !channel.isWritable() || (isPending() && memory.isCrowded());
    return !stalled;
  }

  /** Whether answering waits until the client reads what was written. */
  protected final boolean isStalled() {
    return stalled;
  }

  /** Writes a buffer, which {@link #flush} sends. */
  public final void write(ByteBuf bytes) {
    writes++;
    channel.write(bytes, channel.voidPromise());
  }

  /** Holds what another share holds, until the client has read it. */
  protected final void takeOver(HeldMemory.Share other) {
    unsent.takeOver(other);
  }

  /** Whether something was written that the client has not read. */
  protected final boolean isPending() {
    return unsent.bytes() > 0;
  }

  /**
   * Whether a check of the client's progress is due, so that no other timer needs to cut it off.
   */
  protected final boolean isChecked() {
    return checking;
  }

  /** Sends what was written, as far as the client reads it. */
  protected final void flush() {
    writeAnswers();
    send();
    while (stalled && !pumping && !finished && !isPending() && channel.isWritable()) {
      pump(); // all was sent immediately, and nothing else will retry what waits
      writeAnswers();
      send();
    }
  }

  /**
   * Sends what was written, as far as the client reads it, and counts the rest. While anything is
   * pending, a marker behind it reports when it was sent, and progress is checked periodically.
   */
  protected final void send() {
    channel.flush();
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    long waiting = buffer == null ? 0 : buffer.totalPendingWriteBytes();
    unsent.settle(waiting);
    if (waiting == 0) {
      return;
    }
    if (!watching) {
      watching = true;
      channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> onLoop(this::sent));
    }
    if (!checking) {
      checking = true;
      checkProgress();
    }
  }

  /** Called when everything written before the marker was sent. */
  private void sent() {
    watching = false;
    serve();
  }

  /**
   * Cuts off a client that reads nothing for too long; otherwise checks again while data is
   * pending.
   */
  private void checkProgress() {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    if (buffer == null || buffer.totalPendingWriteBytes() == 0) {
      checking = false;
      return;
    }
    long now = System.nanoTime();
    long left = stuckSince(buffer, now) + patienceNanos - now;
    if (left <= 0) {
      cut();
    } else {
      after(Math.min(left, Math.min(CHECK_NANOS, patienceNanos / 8)), this::checkProgress);
    }
  }

  /** Returns since when checks have seen no progress; {@code now} if there was some. */
  final long stuckSince(ChannelOutboundBuffer buffer, long now) {
    Progress seen = new Progress(writes, buffer.totalPendingWriteBytes(), buffer.currentProgress());
    if (!seen.equals(progress)) {
      progress = seen;
      progressNanos = now;
    }
    return progressNanos;
  }

  /** Closes a connection that is too slow or idle for too long; otherwise checks again. */
  private void checkTime() {
    long left = nanosLeft(System.nanoTime());
    if (left <= 0) {
      cut();
    } else {
      long next = Math.min(left, patienceNanos) + 1_000_000;
      timer = channel.eventLoop().schedule(this::checkTime, next, TimeUnit.NANOSECONDS);
    }
  }

  /** Answers nothing more, but lets the client read what was written: a reset would discard it. */
  protected final void finish() {
    if (!finished) {
      writeAnswers();
      finished = true;
      discard();
      end();
    }
  }

  private void end() {
    ChannelFuture flushed = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
    if (inputEnded || !(channel instanceof DuplexChannel duplex)) {
      flushed.addListener(ChannelFutureListener.CLOSE);
      return;
    }
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    flushed.addListener(
        sent -> {
          if (tls != null) {
            tls.closeOutbound();
          }
          duplex.shutdownOutput();
          after(LINGER_NANOS, this::cut);
        });
    channel.config().setAutoRead(true);
  }

  /** Closes the connection, even in the middle of an answer. Any thread may call it. */
  public final void cut() {
    channel.close();
  }

  /** Closes the connection if it is idle. Any thread may call it. */
  public final void endIfIdle() {
    onLoop(
        () -> {
          if (!finished && isIdle()) {
            finish();
          }
        });
  }

  /**
   * Runs a task on the connection's event loop; if it fails, the failure is reported and the
   * connection is closed. Any thread may call it.
   *
   * @throws RejectedExecutionException if the event loop has ended
   */
  public final void onLoop(Runnable task) {
    channel.eventLoop().execute(() -> run(task));
  }

  /** Runs a task on the connection's event loop after a delay, like {@link #onLoop}. */
  public final void after(long nanos, Runnable task) {
    channel.eventLoop().schedule(() -> run(task), nanos, TimeUnit.NANOSECONDS);
  }

  private void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      cut();
      failed(e);
    }
  }

  /**
   * Runs a task on the connection's event loop, like {@link #onLoop}. Any thread may call it.
   *
   * @param undone runs instead, here, if the event loop has ended
   */
  protected final void goOn(Runnable task, Runnable undone) {
    try {
      onLoop(task);
    } catch (RejectedExecutionException e) {
      undone.run();
    }
  }

  /**
   * Runs a task on another thread, unless the connection is closed before, and goes on on the event
   * loop when it has ended.
   *
   * @param task returns why it failed, as if it had thrown that; null if it did not fail
   * @param then goes on; receives why the task failed, or null
   * @param undone releases what the task uses if nothing goes on, because the service ends
   */
  public final void onThread(
      Executor threads,
      Supplier<@Nullable Throwable> task,
      Consumer<@Nullable Throwable> then,
      Runnable undone) {
    try {
      threads.execute(
          () -> {
            Throwable failure = null;
            try {
              failure = gone ? null : task.get();
            } catch (RuntimeException | Error e) {
              failure = e;
            }
            Throwable why = failure;
            goOn(() -> then.accept(why), undone);
          });
    } catch (RejectedExecutionException e) { // the service has ended
      cut();
      undone.run();
    }
  }

  /** Returns how long a client may read nothing, or an answer may stall. */
  public final long patienceNanos() {
    return patienceNanos;
  }

  /** Returns a new share of memory held for this connection. */
  public final HeldMemory.Share share() {
    return memory.share();
  }

  /** Returns the names in the certificate that the client has shown; none if there is none. */
  public final List<String> certificate() {
    return certificate;
  }

  protected final Channel channel() {
    return channel;
  }

  protected final Connections connections() {
    return connections;
  }

  /** Whether the client sends nothing more. */
  protected final boolean inputEnded() {
    return inputEnded;
  }

  /** Whether nothing more is answered. */
  protected final boolean isFinished() {
    return finished;
  }

  /** Whether the connection is closed. Any thread may call it. */
  protected final boolean isGone() {
    return gone;
  }
}
