package tech.bsdb.tools.serve.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import java.util.concurrent.TimeUnit;

/**
 * What is written to a client: counts what the client has not read yet, and cuts off a client that
 * reads nothing for too long. Confined to its connection's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure closes the connection, which is noticed
public final class Sending {
  /** How long a client may go on sending after the last answer. */
  private static final long LINGER_SECONDS = 2;

  /** Minimum time between checks whether a client is reading its answer. */
  private static final long CHECK_NANOS = 1_000_000_000L;

  private final ChannelHandlerContext context;
  private final HeldMemory.Share unsent;
  private final long patienceNanos;
  private final Runnable taken;
  private final SendProgress progress = new SendProgress();
  private boolean watching;
  private boolean checking;

  /**
   * Starts with nothing written.
   *
   * @param unsent counts what is written and not yet read by the client
   * @param patienceNanos how long a client may read nothing while something is pending
   * @param taken called when everything was sent that had been pending after a {@link #flush}
   */
  public Sending(
      ChannelHandlerContext context, HeldMemory.Share unsent, long patienceNanos, Runnable taken) {
    this.context = context;
    this.unsent = unsent;
    this.patienceNanos = patienceNanos;
    this.taken = taken;
  }

  /** Writes a buffer, which {@link #flush} sends. */
  public void write(ByteBuf bytes) {
    progress.wrote();
    context.write(bytes, context.voidPromise());
  }

  /** Holds what another share holds, until the client has read it. */
  public void takeOver(HeldMemory.Share other) {
    unsent.takeOver(other);
  }

  /** Whether something was written that the client has not read. */
  public boolean isPending() {
    return unsent.bytes() > 0;
  }

  /**
   * Whether a check of the client's progress is due, so that no other timer needs to cut it off.
   */
  public boolean isChecked() {
    return checking;
  }

  /**
   * Sends what was written, as far as the client reads it, and counts the rest. While anything is
   * pending, a marker behind it reports when it was sent, and progress is checked periodically.
   */
  public void flush() {
    context.flush();
    ChannelOutboundBuffer buffer = context.channel().unsafe().outboundBuffer();
    long waiting = buffer == null ? 0 : buffer.totalPendingWriteBytes();
    unsent.settle(waiting);
    if (waiting == 0) {
      return;
    }
    if (!watching) {
      watching = true;
      context
          .writeAndFlush(Unpooled.EMPTY_BUFFER)
          .addListener(
              sent ->
                  context
                      .executor()
                      .execute(
                          () -> {
                            watching = false;
                            taken.run();
                          }));
    }
    if (!checking) {
      checking = true;
      check();
    }
  }

  /**
   * Cuts off a client that reads nothing for too long; otherwise checks again while data is
   * pending.
   */
  private void check() {
    Channel channel = context.channel();
    SendProgress.State waiting = progress.waiting(channel.unsafe().outboundBuffer());
    if (waiting == null || !channel.isOpen()) {
      checking = false;
      return;
    }
    long now = System.nanoTime();
    long left = progress.stuckSince(waiting, now) + patienceNanos - now;
    if (left <= 0) {
      channel.close();
      return;
    }
    long next = Math.min(left, Math.min(CHECK_NANOS, patienceNanos / 8));
    context.executor().schedule(this::check, next, TimeUnit.NANOSECONDS);
  }

  /** Forgets what was pending: the connection is gone. */
  public void gone() {
    unsent.settle(0);
  }

  /**
   * Sends nothing more, but lets the client read what was sent: a reset would discard it.
   *
   * @param inputEnded whether the client sends nothing more
   */
  public void end(boolean inputEnded) {
    Channel channel = context.channel();
    if (inputEnded || !(channel instanceof DuplexChannel duplex)) {
      context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      return;
    }
    SslHandler tls = context.pipeline().get(SslHandler.class);
    context
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(
            flushed -> {
              if (tls != null) {
                tls.closeOutbound();
              }
              duplex.shutdownOutput();
              context.executor().schedule(() -> context.close(), LINGER_SECONDS, TimeUnit.SECONDS);
            });
    channel.config().setAutoRead(true);
  }
}
