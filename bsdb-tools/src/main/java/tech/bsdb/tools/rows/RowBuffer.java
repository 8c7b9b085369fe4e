package tech.bsdb.tools.rows;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A growing byte array for writing rows in Avro's binary encoding. It is reusable, and writing
 * allocates nothing once it has grown. Not thread-safe.
 *
 * <p>Content that does not fit in an array causes an {@link OutOfMemoryError}.
 *
 * @see <a href="https://avro.apache.org/docs/1.12.0/specification/#binary-encoding">the
 *     encoding</a>
 */
public final class RowBuffer {
  /** {@link #reset} drops an array that has grown larger than this. */
  private static final int KEPT = 1 << 20;

  private static final int FIRST = 1 << 12;
  private static final int LARGEST = Integer.MAX_VALUE - 8;
  private static final int LONGEST_VARINT = 10;
  private static final int LONGEST_DIGITS = 20;

  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] bytes = new byte[FIRST];
  private int length;

  /** Creates an empty buffer. */
  public RowBuffer() {}

  /** Returns the array that starts with the written bytes; valid until the next write. */
  public byte[] bytes() {
    return bytes;
  }

  /** Returns the number of bytes written. */
  public int length() {
    return length;
  }

  /** Returns a copy of the written bytes. */
  public byte[] copy() {
    return Arrays.copyOf(bytes, length);
  }

  /** Discards the written bytes, and an array larger than 1 MiB. */
  public void reset() {
    length = 0;
    if (bytes.length > KEPT) {
      bytes = new byte[FIRST];
    }
  }

  /** Discards all but the first bytes. */
  public void truncate(int kept) {
    if (kept < 0 || kept > length) {
      throw new IllegalArgumentException(kept + " of " + length + " bytes");
    }
    length = kept;
  }

  /** Writes a raw byte. */
  public void putByte(int b) {
    reserve(1);
    bytes[length++] = (byte) b;
  }

  /** Writes an int, a long, the index of a union's branch, or a count. */
  public void putLong(long value) {
    reserve(LONGEST_VARINT);
    length = putLong(value, bytes, length);
  }

  private static int putLong(long number, byte[] target, int offset) {
    int at = offset;
    long rest = number << 1 ^ number >> 63;
    while ((rest & ~0x7FL) != 0) {
      target[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    target[at++] = (byte) rest;
    return at;
  }

  /** Writes a number's decimal digits, for keys only. */
  public void putDigits(long number) {
    reserve(LONGEST_DIGITS);
    if (number == Long.MIN_VALUE) {
      putText(String.valueOf(number));
      return;
    }
    byte[] to = bytes;
    int start = length;
    if (number < 0) {
      to[start++] = '-';
    }
    long rest = Math.abs(number);
    int end = start + 1;
    for (long bound = 10; rest >= bound && end < start + 19; bound *= 10) {
      end++;
    }
    for (int at = end - 1; at >= start; at--) {
      to[at] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    length = end;
  }

  /** Writes text in UTF-8 without its length, for keys only. */
  public void putText(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    putFixed(utf8, 0, utf8.length);
  }

  /** Writes a float. */
  public void putFloat(float value) {
    putFourBytes(Float.floatToRawIntBits(value));
  }

  /** Writes a double. */
  public void putDouble(double value) {
    putEightBytes(Double.doubleToRawLongBits(value));
  }

  /** Writes raw bytes: a fixed value, or one that is already encoded. */
  public void putFixed(byte[] source, int offset, int count) {
    reserve(count);
    System.arraycopy(source, offset, bytes, length, count);
    length += count;
  }

  /** Writes the remaining bytes of a buffer verbatim; the buffer's position does not change. */
  public void putFixed(ByteBuffer source) {
    int count = source.remaining();
    reserve(count);
    source.get(source.position(), bytes, length, count);
    length += count;
  }

  /** Writes bytes or a string, preceded by the length. */
  public void putBytes(byte[] source, int offset, int count) {
    putLong(count);
    putFixed(source, offset, count);
  }

  /**
   * Writes the remaining bytes of a buffer as bytes or a string; the buffer's position does not
   * change.
   */
  public void putBytes(ByteBuffer source) {
    putLong(source.remaining());
    putFixed(source);
  }

  /**
   * Inserts a number before the bytes written from {@code place} on: the item count of an array or
   * map, or a length, that was not known in advance.
   */
  public void insertLong(int place, long number) {
    reserve(LONGEST_VARINT);
    byte[] form = new byte[LONGEST_VARINT];
    int size = putLong(number, form, 0);
    System.arraycopy(bytes, place, bytes, place + size, length - place);
    System.arraycopy(form, 0, bytes, place, size);
    length += size;
  }

  /** Writes the four bytes of a number, little-endian. */
  void putFourBytes(int number) {
    reserve(Integer.BYTES);
    INTS.set(bytes, length, number);
    length += Integer.BYTES;
  }

  /** Writes the eight bytes of a number, little-endian. */
  void putEightBytes(long number) {
    reserve(Long.BYTES);
    LONGS.set(bytes, length, number);
    length += Long.BYTES;
  }

  /**
   * Writes the lowest bytes of a number, big-endian.
   *
   * @param count how many bytes; beyond 8 the sign is repeated
   */
  void putBigEndian(long number, int count) {
    reserve(count);
    for (int i = count - 1; i >= 0; i--) {
      bytes[length++] = (byte) (i < Long.BYTES ? number >> 8 * i : number >> 63);
    }
  }

  /**
   * Writes text as UTF-8.
   *
   * @param counted whether the number of bytes is written first
   * @return false, with nothing written, if it has a lone surrogate
   */
  boolean putText(char[] text, int from, int to, boolean counted) {
    long size = (long) to - from;
    for (int at = from; at < to; at++) {
      char c = text[at];
      if (c >= 0x80) {
        if (Character.isSurrogate(c)) {
          if (Character.isLowSurrogate(c)
              || at + 1 == to
              || !Character.isLowSurrogate(text[at + 1])) {
            return false;
          }
          at++;
          size += 2;
        } else {
          size += c < 0x800 ? 1 : 2;
        }
      }
    }
    reserve(size + LONGEST_VARINT);
    if (counted) {
      length = putLong(size, bytes, length);
    }
    byte[] target = bytes;
    int out = length;
    for (int at = from; at < to; at++) {
      char c = text[at];
      if (c < 0x80) {
        target[out++] = (byte) c;
      } else if (c < 0x800) {
        target[out++] = (byte) (0xC0 | c >> 6);
        target[out++] = (byte) (0x80 | c & 0x3F);
      } else if (Character.isSurrogate(c)) {
        int character = Character.toCodePoint(c, text[++at]);
        target[out++] = (byte) (0xF0 | character >> 18);
        target[out++] = (byte) (0x80 | character >> 12 & 0x3F);
        target[out++] = (byte) (0x80 | character >> 6 & 0x3F);
        target[out++] = (byte) (0x80 | character & 0x3F);
      } else {
        target[out++] = (byte) (0xE0 | c >> 12);
        target[out++] = (byte) (0x80 | c >> 6 & 0x3F);
        target[out++] = (byte) (0x80 | c & 0x3F);
      }
    }
    length = out;
    return true;
  }

  private void reserve(long more) {
    if (more > bytes.length - length) {
      grow(more);
    }
  }

  private void grow(long more) {
    long needed = length + more;
    if (needed > LARGEST) {
      throw new OutOfMemoryError("a row of " + needed + " bytes does not fit in an array");
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(LARGEST, Math.max(needed, 2L * bytes.length)));
  }
}
