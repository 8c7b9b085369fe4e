package tech.bsdb.tools.input;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Finds bytes in arrays, eight at a time. */
final class ByteSearch {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOW_BITS = 0x0101_0101_0101_0101L;
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

  private ByteSearch() {}

  /** The index of the first {@code wanted} byte in the range, or -1. */
  static int indexOf(byte[] bytes, int from, int to, byte wanted) {
    long pattern = (wanted & 0xFF) * LOW_BITS;
    int at = from;
    for (; at <= to - 8; at += 8) {
      long zeroWhereEqual = (long) LONGS.get(bytes, at) ^ pattern;
      long found = (zeroWhereEqual - LOW_BITS) & ~zeroWhereEqual & HIGH_BITS;
      if (found != 0) {
        return at + (Long.numberOfTrailingZeros(found) >>> 3);
      }
    }
    for (; at < to; at++) {
      if (bytes[at] == wanted) {
        return at;
      }
    }
    return -1;
  }

  /** The index of the first occurrence of the wanted bytes (at least one) in the range, or -1. */
  static int indexOf(byte[] bytes, int from, int to, byte[] wanted) {
    if (wanted.length == 1) {
      return indexOf(bytes, from, to, wanted[0]);
    }
    int lastStart = to - wanted.length;
    for (int at = from; at <= lastStart; at++) {
      at = indexOf(bytes, at, lastStart + 1, wanted[0]);
      int end = at + wanted.length;
      if (at < 0 || Arrays.equals(bytes, at, end, wanted, 0, wanted.length)) {
        return at;
      }
    }
    return -1;
  }

  /** The index of the last {@code wanted} byte in the range, or -1. */
  static int lastIndexOf(byte[] bytes, int from, int to, byte wanted) {
    int at = to - 1;
    while (at >= from && bytes[at] != wanted) {
      at--;
    }
    return at >= from ? at : -1;
  }
}
