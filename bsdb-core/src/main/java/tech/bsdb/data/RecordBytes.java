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
   * Copies eight bytes at a time where that is faster than a bulk copy (measured: up to 64 bytes).
   */
  static void copy(ByteBuffer buffer, int from, byte[] to, int offset, int length) {
    if (length < 8 || length > 64) {
      buffer.get(from, to, offset, length);
      return;
    }
    for (int i = 0; i < length - 8; i += 8) {
      LONGS.set(to, offset + i, buffer.getLong(from + i));
    }
    LONGS.set(to, offset + length - 8, buffer.getLong(from + length - 8));
  }

  /** Returns a copy of bytes. */
  public static byte[] copy(ByteBuffer buffer, int from, int length) {
    byte[] copy = new byte[length];
    copy(buffer, from, copy, 0, length);
    return copy;
  }

  /** Whether the bytes at an offset of the buffer are the key. */
  static boolean equal(ByteBuffer buffer, int at, byte[] key) {
    int length = key.length;
    if (length < 8) {
      for (int i = 0; i < length; i++) {
        if (buffer.get(at + i) != key[i]) {
          return false;
        }
      }
      return true;
    }
    for (int i = 0; i < length - 8; i += 8) {
      if (buffer.getLong(at + i) != (long) LONGS.get(key, i)) {
        return false;
      }
    }
    return buffer.getLong(at + length - 8) == (long) LONGS.get(key, length - 8);
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
