package tech.bsdb.write;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

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

  /** Receives keys. */
  @FunctionalInterface
  interface Keys {
    /** Receives a key, which is part of an array. */
    void take(byte[] bytes, int from, int to) throws IOException;
  }

  /** Keys in any order. */
  @FunctionalInterface
  interface Source {
    /** Passes all keys on. */
    void each(Keys to) throws IOException;
  }

  /** Passes on the key of each entry. */
  static Spill.Chunks each(Keys keys) {
    return (bytes, from, to) -> {
      for (int at = from; at < to; ) {
        int start = at + HEAD;
        at = start + length(bytes, at);
        keys.take(bytes, start, at);
      }
    };
  }

  /** The length of the key of an entry. */
  static int length(byte[] bytes, int at) {
    return (short) SHORTS.get(bytes, at) & 0xFFFF;
  }
}
