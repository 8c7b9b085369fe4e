package tech.bsdb.tools.rows;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import tech.bsdb.tools.text.GrowableBytes;
import tech.bsdb.tools.text.JsonEscapes;

/**
 * A growable byte array for writing rows in Avro's binary encoding.
 *
 * @see <a href="https://avro.apache.org/docs/1.12.0/specification/#binary-encoding">the
 *     encoding</a>
 */
public final class RowBuffer extends GrowableBytes {
  private static final int LONGEST_VARINT = 10;
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** Creates an empty buffer. */
  public RowBuffer() {
    super("a row", 1 << 12);
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

  /** Writes text in UTF-8 without its length, for keys only. */
  public void putText(String text) {
    put(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes a float. */
  public void putFloat(float value) {
    putFourBytes(Float.floatToRawIntBits(value));
  }

  /** Writes a double. */
  public void putDouble(double value) {
    reserve(Double.BYTES);
    LONGS.set(bytes, length, Double.doubleToRawLongBits(value));
    length += Double.BYTES;
  }

  /** Writes the remaining bytes of a buffer verbatim; the buffer's position does not change. */
  public void put(ByteBuffer source) {
    int count = source.remaining();
    reserve(count);
    source.get(source.position(), bytes, length, count);
    length += count;
  }

  /** Writes bytes or a string, preceded by the length. */
  public void putBytes(byte[] source, int offset, int count) {
    putLong(count);
    put(source, offset, count);
  }

  /**
   * Writes the remaining bytes of a buffer as bytes or a string; the buffer's position does not
   * change.
   */
  public void putBytes(ByteBuffer source) {
    putLong(source.remaining());
    put(source);
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
      } else {
        int character = Character.isSurrogate(c) ? Character.toCodePoint(c, text[++at]) : c;
        out = JsonEscapes.encode(character, target, out);
      }
    }
    length = out;
    return true;
  }
}
