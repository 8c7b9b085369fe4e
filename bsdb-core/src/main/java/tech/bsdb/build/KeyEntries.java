package tech.bsdb.build;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * How keys lie in temporary memory and files: one after the other, before each its length in two
 * bytes and, if they have one, the address of its record in eight. Immutable.
 *
 * @param addressed whether the keys have addresses
 */
record KeyEntries(boolean addressed) {
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Bytes before a key. */
  int head() {
    return addressed ? Short.BYTES + Long.BYTES : Short.BYTES;
  }

  /** Puts a key, which is part of an array; returns where the next one goes. */
  int put(byte[] into, int at, byte[] key, int from, int length, long address) {
    SHORTS.set(into, at, (short) length);
    if (addressed) {
      LONGS.set(into, at + Short.BYTES, address);
    }
    int start = at + head();
    System.arraycopy(key, from, into, start, length);
    return start + length;
  }

  /** The length of the key of an entry. */
  static int length(byte[] bytes, int at) {
    return (short) SHORTS.get(bytes, at) & 0xFFFF;
  }

  /** The address of an entry, or 0. */
  long address(byte[] bytes, int at) {
    return addressed ? (long) LONGS.get(bytes, at + Short.BYTES) : 0;
  }
}
