package tech.bsdb.data;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Compares keys and copies values in buffers, eight bytes at a time. */
public final class RecordBytes {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private RecordBytes() {}

  /**
   * Copies eight bytes at a time where that is faster than a bulk copy (measured: up to 64 bytes),
   * some of them twice rather than in a loop.
   */
  static void copy(ByteBuffer buffer, int from, byte[] to, int offset, int length) {
    if (length < 8 || length > 64) {
      buffer.get(from, to, offset, length);
      return;
    }
    int last = length - 8;
    if (length > 16) {
      if (length > 32) {
        copyLong(buffer, from, to, offset, 16);
        copyLong(buffer, from, to, offset, 24);
        copyLong(buffer, from, to, offset, last - 24);
        copyLong(buffer, from, to, offset, last - 16);
      }
      copyLong(buffer, from, to, offset, 8);
      copyLong(buffer, from, to, offset, last - 8);
    }
    copyLong(buffer, from, to, offset, 0);
    copyLong(buffer, from, to, offset, last);
  }

  private static void copyLong(ByteBuffer buffer, int from, byte[] to, int offset, int at) {
    LONGS.set(to, offset + at, buffer.getLong(from + at));
  }

  /** Returns a copy of bytes. */
  public static byte[] copy(ByteBuffer buffer, int from, int length) {
    byte[] copy = new byte[length];
    copy(buffer, from, copy, 0, length);
    return copy;
  }

  /** Whether the bytes at an offset of the buffer are the key. */
  static boolean equal(ByteBuffer buffer, int at, byte[] key) {
    int last = key.length - 8;
    if (last < 0) {
      return equalShort(buffer, at, key);
    }
    for (int i = 8; i < last; i += 8) { // nothing of a key of 16 bytes or less
      if (buffer.getLong(at + i) != (long) LONGS.get(key, i)) {
        return false;
      }
    }
    return buffer.getLong(at) == (long) LONGS.get(key, 0)
        && buffer.getLong(at + last) == (long) LONGS.get(key, last);
  }

  private static boolean equalShort(ByteBuffer buffer, int at, byte[] key) {
    for (int i = 0; i < key.length; i++) {
      if (buffer.get(at + i) != key[i]) {
        return false;
      }
    }
    return true;
  }

  /** Whether the bytes at an offset of an array are the key. */
  static boolean equal(byte[] bytes, int at, byte[] key) {
    int length = key.length;
    if (length < 8) {
      for (int i = 0; i < length; i++) {
        if (bytes[at + i] != key[i]) {
          return false;
        }
      }
      return true;
    }
    for (int i = 0; i < length - 8; i += 8) {
      if ((long) LONGS.get(bytes, at + i) != (long) LONGS.get(key, i)) {
        return false;
      }
    }
    return (long) LONGS.get(bytes, at + length - 8) == (long) LONGS.get(key, length - 8);
  }
}
