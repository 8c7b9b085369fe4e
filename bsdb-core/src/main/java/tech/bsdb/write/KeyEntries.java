package tech.bsdb.write;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import tech.bsdb.order.OrderWriter;

/**
 * How keys lie in temporary memory and files: one after the other, before each its length in two
 * bytes.
 */
final class KeyEntries {
  /** Bytes before a key. */
  static final int HEAD = Short.BYTES;

  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  private KeyEntries() {}

  /** Puts a key, which is part of an array; returns where the next one goes. */
  static int put(byte[] into, int at, byte[] key, int from, int length) {
    SHORTS.set(into, at, (short) length);
    System.arraycopy(key, from, into, at + HEAD, length);
    return at + HEAD + length;
  }

  /**
   * Passes on the keys of entries that lie one after the other from the start of an array on.
   *
   * @param shared bytes that each has in common with that before it, except for the first
   */
  static void pass(byte[] bytes, char[] shared, int count, KeyRuns.Sink sink) throws IOException {
    int at = 0;
    for (int i = 0; i < count; i++) {
      int start = at + HEAD;
      at = start + length(bytes, at);
      sink.add(bytes, start, at, i == 0 ? OrderWriter.UNKNOWN : shared[i]);
    }
  }

  /** The length of the key of an entry. */
  static int length(byte[] bytes, int at) {
    return (short) SHORTS.get(bytes, at) & 0xFFFF;
  }
}
