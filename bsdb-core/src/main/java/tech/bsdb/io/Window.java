package tech.bsdb.io;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Where the bytes of a read lie: a little-endian buffer and an offset in it.
 *
 * <p>A window belongs to one thread at a time. What it shows stays valid until the next read into
 * it, or until the source is closed.
 */
public final class Window {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  ByteBuffer buffer = NOTHING;
  int offset;
  private byte[] own = new byte[0];
  private ByteBuffer ownBuffer = NOTHING;

  /** The buffer; only absolute gets may be used. */
  public ByteBuffer buffer() {
    return buffer;
  }

  /** Where the first byte of the read stands in the buffer. */
  public int offset() {
    return offset;
  }

  /**
   * Points this window at an array of its own, with room for {@code bytes}, for a source to fill
   * from its start.
   */
  byte[] prepare(int bytes) {
    if (own.length < bytes) {
      own = new byte[bytes];
      ownBuffer = ByteBuffer.wrap(own).order(ByteOrder.LITTLE_ENDIAN);
    }
    buffer = ownBuffer;
    offset = 0;
    return own;
  }
}
