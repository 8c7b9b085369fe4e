package tech.bsdb.build;

import java.io.IOException;
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

  /** Passes on the keys of entries that lie one after the other from the start of an array on. */
  void pass(byte[] bytes, int count, KeyRuns.Sink sink) throws IOException {
    int at = 0;
    for (int i = 0; i < count; i++) {
      int start = at + head();
      int end = start + length(bytes, at);
      sink.add(bytes, start, end, address(bytes, at));
      at = end;
    }
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
