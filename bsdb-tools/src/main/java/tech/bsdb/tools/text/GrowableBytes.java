package tech.bsdb.tools.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A growable byte array. It is reusable: once it has grown, writing allocates nothing. Not
 * thread-safe.
 *
 * <p>Writing more than an array can hold throws {@link OutOfMemoryError}.
 */
public abstract class GrowableBytes {
  /** Reads and writes eight bytes of an array, the lowest first. */
  protected static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** {@link #reset} drops an array that has grown larger. */
  private static final int KEPT = 1 << 20;

  private static final byte[] NONE = {};
  private static final int LARGEST = Integer.MAX_VALUE - 8;

  /** The longest whole number, with its sign. */
  private static final int DIGITS = 20;

  /** Begins with what was written; another array after {@link #reserve}. */
  protected byte[] bytes;

  /** The number of bytes written. */
  protected int length;

  private final String content;
  private final int first;

  /**
   * Creates an empty array.
   *
   * @param content what is written, for the message if it is too long
   * @param first the size of the first array
   */
  protected GrowableBytes(String content, int first) {
    this.content = content;
    this.first = first;
    this.bytes = new byte[first];
  }

  /** The array that begins with what was written; valid until the next write. */
  public final byte[] bytes() {
    return bytes;
  }

  /** The number of bytes written. */
  public final int length() {
    return length;
  }

  /** A copy of what was written. */
  public final byte[] copy() {
    return Arrays.copyOf(bytes, length);
  }

  /** Discards what was written, and the array if it is larger than 1 MiB. */
  public final void reset() {
    length = 0;
    if (bytes.length > KEPT) {
      bytes = new byte[first];
    }
  }

  /** Discards what was written, and the array. */
  public final void drop() {
    length = 0;
    bytes = NONE;
  }

  /**
   * Discards all but the first bytes.
   *
   * @param kept the number of bytes to keep, at most {@link #length}
   */
  public final void truncate(int kept) {
    if (kept < 0 || kept > length) {
      throw new IllegalArgumentException(kept + " of " + length + " bytes");
    }
    length = kept;
  }

  /** Writes a byte unchanged. */
  public final void put(int b) {
    reserve(1);
    bytes[length++] = (byte) b;
  }

  /** Writes bytes unchanged. */
  public final void put(byte[] source) {
    put(source, 0, source.length);
  }

  /** Writes bytes unchanged. */
  public final void put(byte[] source, int offset, int count) {
    reserve(count);
    System.arraycopy(source, offset, bytes, length, count);
    length += count;
  }

  /** Writes a whole number in decimal digits. */
  public final void putNumber(long number) {
    reserve(DIGITS);
    long left = number > 0 ? -number : number; // the least number has no positive counterpart
    int count = 1;
    for (long limit = -10; count < DIGITS - 1 && left <= limit; limit *= 10) {
      count++;
    }
    if (number < 0) {
      bytes[length++] = '-';
    }
    length += count;
    for (int at = length - 1; count > 0; at--, count--) {
      long next = left / 10;
      bytes[at] = (byte) ('0' + (next * 10 - left));
      left = next;
    }
  }

  /** Makes room for that many more bytes. */
  protected final void reserve(long more) {
    if (more > bytes.length - length) {
      grow(more);
    }
  }

  private void grow(long more) {
    long needed = length + more;
    if (needed > LARGEST) {
      throw new OutOfMemoryError(content + " of " + needed + " bytes does not fit in an array");
    }
    int larger = (int) Math.min(LARGEST, Math.max(Math.max(first, needed), 2L * bytes.length));
    checkRoom(larger);
    bytes = Arrays.copyOf(bytes, larger);
  }

  /** Called before the array is replaced by a larger one; may refuse that by an exception. */
  protected void checkRoom(int larger) {}
}
