package tech.bsdb.data;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Where the value of the last lookup lies: in the window that shows its page, in a decompressed
 * block, or, if it spans pages, in an array that this object keeps for reuse. Not thread-safe.
 */
final class ValuePlace {
  /** Larger arrays are not kept for reuse. */
  private static final int KEEP = 1 << 20;

  private static final byte[] NO_BYTES = new byte[0];
  private static final ByteBuffer NOTHING = ByteBuffer.wrap(NO_BYTES).asReadOnlyBuffer();

  private byte[] own = NO_BYTES;
  private ByteBuffer shownOwn = NOTHING;

  /** The buffer or array shown last, and its read-only view. Kept, because both are reused. */
  private @Nullable Object other;

  private ByteBuffer shownOther = NOTHING;

  /** The read-only bytes that hold the value, and where in them. */
  private ByteBuffer shown = NOTHING;

  private int offset;
  private int length;

  /** Shows bytes of a window's buffer. */
  @SuppressWarnings("ReferenceEquality") // identity: is it the buffer shown last?
  void show(ByteBuffer buffer, int at, int bytes) {
    if (other != buffer) {
      other = buffer;
      shownOther = buffer.isReadOnly() ? buffer : buffer.asReadOnlyBuffer().clear();
    }
    set(shownOther, at, bytes);
  }

  /** Shows bytes of an array. */
  void show(byte[] array, int at, int bytes) {
    if (other != array) {
      other = array;
      shownOther = ByteBuffer.wrap(array).asReadOnlyBuffer();
    }
    set(shownOther, at, bytes);
  }

  /** Shows the first bytes of an array that the caller fills. */
  byte[] prepare(int bytes) {
    byte[] array = own;
    if (array.length >= bytes) {
      set(shownOwn, 0, bytes);
      return array;
    }
    array = new byte[Math.max(bytes, 8192)];
    ByteBuffer view = ByteBuffer.wrap(array).asReadOnlyBuffer();
    if (bytes <= KEEP) {
      own = array;
      shownOwn = view;
    }
    set(view, 0, bytes);
    return array;
  }

  private void set(ByteBuffer bytes, int at, int count) {
    shown = bytes;
    offset = at;
    length = count;
  }

  /** Returns the value as a read-only buffer of its own, big-endian, from position 0 to limit. */
  ByteBuffer slice() {
    return shown.slice(offset, length);
  }

  /** Releases what is longer than {@code most} bytes. */
  void trim(int most) {
    if (own.length > most) {
      own = NO_BYTES;
      shownOwn = NOTHING;
    }
    if (shownOther.capacity() > most) {
      other = null;
      shownOther = NOTHING;
    }
    shown = NOTHING;
  }
}
