package tech.bsdb.tools.serve.client;

import io.netty.channel.ChannelOutboundBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Tracks whether a client reads what is written for it. Confined to its connection's event loop.
 */
final class SendProgress {
  private long writes;
  private State last = new State(0, 0, 0, 0);
  private long lastNanos;

  /**
   * The state of a channel's outbound buffer.
   *
   * @param writes buffers written so far, which tells apart two otherwise equal states
   * @param pending bytes pending
   * @param current bytes of the first buffer already sent
   * @param buffers buffers pending
   */
  record State(long writes, long pending, long current, int buffers) {}

  /** Records that a buffer was written. */
  void wrote() {
    writes++;
  }

  /** Returns what is pending in a channel's buffer; null if nothing is. */
  @Nullable State waiting(@Nullable ChannelOutboundBuffer buffer) {
    return buffer == null || buffer.totalPendingWriteBytes() == 0
        ? null
        : new State(
            writes, buffer.totalPendingWriteBytes(), buffer.currentProgress(), buffer.size());
  }

  /** Returns since when checks have seen no progress; {@code now} if there was some. */
  long stuckSince(State state, long now) {
    if (!state.equals(last)) {
      last = state;
      lastNanos = now;
    }
    return lastNanos;
  }
}
