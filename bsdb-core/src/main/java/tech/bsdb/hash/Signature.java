package tech.bsdb.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A key's 128-bit signature: Bob Jenkins' SpookyHash with four words of state, over the key's bytes
 * as a little-endian bit vector, exactly as sux4j's {@code Hashes.spooky4} computes it (FORMAT.md
 * §5).
 *
 * <p>An instance holds the signature it last computed, so that a lookup allocates nothing. It
 * belongs to one thread at a time.
 */
public final class Signature {
  static final long ARBITRARY = 0x9e3779b97f4a7c13L;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** The first 64 bits, which select the bucket. */
  public long high;

  /** The last 64 bits; the lowest are the checksum bits. */
  public long low;

  /** Computes the signature of {@code length} bytes of {@code bytes}. */
  public void compute(byte[] bytes, int offset, int length, long seed) {
    long h0 = seed;
    long h1 = seed;
    long h2 = ARBITRARY;
    long h3 = ARBITRARY;
    int at = offset;
    int left = length;
    while (left >= 16) {
      h2 += (long) LONGS.get(bytes, at);
      h3 += (long) LONGS.get(bytes, at + 8);

      h2 = Long.rotateLeft(h2, 50) + h3;
      h0 ^= h2;
      h3 = Long.rotateLeft(h3, 52) + h0;
      h1 ^= h3;
      h0 = Long.rotateLeft(h0, 30) + h1;
      h2 ^= h0;
      h1 = Long.rotateLeft(h1, 41) + h2;
      h3 ^= h1;
      h2 = Long.rotateLeft(h2, 54) + h3;
      h0 ^= h2;
      h3 = Long.rotateLeft(h3, 48) + h0;
      h1 ^= h3;
      h0 = Long.rotateLeft(h0, 38) + h1;
      h2 ^= h0;
      h1 = Long.rotateLeft(h1, 37) + h2;
      h3 ^= h1;
      h2 = Long.rotateLeft(h2, 62) + h3;
      h0 ^= h2;
      h3 = Long.rotateLeft(h3, 34) + h0;
      h1 ^= h3;
      h0 = Long.rotateLeft(h0, 5) + h1;
      h2 ^= h0;
      h1 = Long.rotateLeft(h1, 36) + h2;
      h3 ^= h1;

      if (left >= 32) {
        h0 += (long) LONGS.get(bytes, at + 16);
        h1 += (long) LONGS.get(bytes, at + 24);
        at += 32;
        left -= 32;
      } else {
        at += 16;
        left -= 16;
      }
    }
    if (left > 8) {
      h2 += (long) LONGS.get(bytes, at);
      h3 += tail(bytes, offset, at + 8, left - 8);
    } else if (left > 0) {
      h2 += tail(bytes, offset, at, left);
    } else {
      h2 += ARBITRARY;
      h3 += ARBITRARY;
    }

    h0 += (long) length << 3;

    h3 ^= h2;
    h2 = Long.rotateLeft(h2, 15);
    h3 += h2;
    h0 ^= h3;
    h3 = Long.rotateLeft(h3, 52);
    h0 += h3;
    h1 ^= h0;
    h0 = Long.rotateLeft(h0, 26);
    h1 += h0;
    h2 ^= h1;
    h1 = Long.rotateLeft(h1, 51);
    h2 += h1;
    h3 ^= h2;
    h2 = Long.rotateLeft(h2, 28);
    h3 += h2;
    h0 ^= h3;
    h3 = Long.rotateLeft(h3, 9);
    h0 += h3;
    h1 ^= h0;
    h0 = Long.rotateLeft(h0, 47);
    h1 += h0;
    h2 ^= h1;
    h1 = Long.rotateLeft(h1, 54);
    h2 += h1;
    h3 ^= h2;
    h2 = Long.rotateLeft(h2, 32);
    h3 += h2;
    h0 ^= h3;
    h3 = Long.rotateLeft(h3, 25);
    h0 += h3;
    h1 ^= h0;
    h0 = Long.rotateLeft(h0, 63);
    h1 += h0;
    high = h0;
    low = h1;
  }

  /**
   * Reads the last 1 to 8 bytes of a key as a number, with a single load if the key has at least
   * eight bytes.
   */
  private static long tail(byte[] bytes, int start, int at, int length) {
    int end = at + length;
    if (end - start >= 8) {
      return (long) LONGS.get(bytes, end - 8) >>> (64 - 8 * length);
    }
    long value = 0;
    for (int i = 0; i < length; i++) {
      value |= (bytes[at + i] & 0xFFL) << (8 * i);
    }
    return value;
  }
}
