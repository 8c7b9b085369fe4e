package tech.bsdb.tools.serve.resp;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The keys that a client with {@code CLIENT TRACKING} has read since the last invalidation, and may
 * keep the values of: they are named to it, as Redis does, if it is Lettuce or does not say what it
 * is, since Lettuce does not understand that everything is invalid. Others are told just that,
 * which redis-py takes less time for. Where the memory for the keys ends, everything is invalid,
 * too. Confined to one thread at a time, as the {@link LookupRound} that notes the keys, except for
 * the memory, which all connections share.
 */
final class TrackedKeys {
  /** All connections take at most this much for keys. */
  static final long MOST_BYTES = Runtime.getRuntime().maxMemory() / 16;

  /** Bytes that a key takes besides its own, about. */
  private static final int OVERHEAD = 128;

  private final AtomicLong taken;
  private boolean on;
  private @Nullable Set<ByteBuffer> keys;
  private long bytes;

  /**
   * Creates an instance for a client that does not track keys.
   *
   * @param taken the bytes that all connections take
   */
  TrackedKeys(AtomicLong taken) {
    this.taken = taken;
  }

  /** Forgets all keys, and begins to note those that are read, or does not. */
  void restart(boolean notes) {
    forget();
    on = notes;
    keys = notes ? new HashSet<>() : null;
  }

  private void forget() {
    keys = null;
    taken.addAndGet(-bytes);
    bytes = 0;
  }

  /** Notes a key that is read. The array must not be modified. */
  void add(byte[] key) {
    Set<ByteBuffer> noted = keys;
    if (noted != null && noted.add(ByteBuffer.wrap(key))) {
      int more = key.length + OVERHEAD;
      bytes += more;
      if (taken.addAndGet(more) > MOST_BYTES) {
        forget();
      }
    }
  }

  /** Tells the client that the keys, or everything, are invalid, and forgets them. */
  void invalidate(ReplyWriter out) {
    Set<ByteBuffer> noted = keys;
    if (noted == null || noted.isEmpty()) {
      out.invalidateAll();
    } else {
      out.invalidate(noted);
    }
    restart(on);
  }
}
