package tech.bsdb.tools.serve;

import io.netty.channel.ChannelOutboundBuffer;
import org.jspecify.annotations.Nullable;

/** Whether a client takes what is written for it. Belongs to its connection's event loop. */
final class SendProgress {
  private long writes;
  private State last = new State(0, 0, 0, 0);
  private long lastNanos;

  /**
   * What is on its way.
   *
   * @param writes buffers that were ever written: two waits that look alike are told apart by it
   * @param pending bytes that wait
   * @param current bytes of the first buffer that were taken
   * @param buffers how many wait
   */
  record State(long writes, long pending, long current, int buffers) {}

  /** Notes that a buffer is written. */
  void wrote() {
    writes++;
  }

  /** What waits in a channel's buffer, null if nothing does. */
  @Nullable State waiting(@Nullable ChannelOutboundBuffer buffer) {
    return buffer == null || buffer.totalPendingWriteBytes() == 0
        ? null
        : new State(
            writes, buffer.totalPendingWriteBytes(), buffer.currentProgress(), buffer.size());
  }

  /** Since when nothing was taken, as far as it was looked; {@code now} if something was. */
  long stuckSince(State state, long now) {
    if (!state.equals(last)) {
      last = state;
      lastNanos = now;
    }
    return lastNanos;
  }
}
