package tech.bsdb;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Makes keys whose signatures by multiply and mix collide at seed 0: with a known seed, the secrets
 * are known too (FORMAT.md §5).
 */
public final class MumCollision {
  private static final int BLOCK = 16;

  private MumCollision() {}

  /** The {@code number}-th secret of seed 0, counted from 1. */
  public static long secret(int number) {
    long z = number * 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }

  /** A key of 32 bytes; another salt gives another key, all of which have the same signature. */
  public static byte[] key(long victim, long salt) {
    long x = secret(1) ^ salt;
    long y = secret(2) ^ ~salt;
    return ByteBuffer.allocate(2 * BLOCK)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(salt)
        .putLong(~salt)
        .putLong(x * y ^ victim)
        .putLong(Math.multiplyHigh(x, y) ^ x - y ^ ~victim)
        .array();
  }

  /** A key of 16 bytes with zero as the first half of its signature; each salt gives another. */
  public static byte[] startingWithZero(long salt) {
    long x = salt << 1 | 1;
    long inverse = x; // of an odd number, right in its lowest three bits
    for (int bits = 3; bits < Long.SIZE; bits *= 2) {
      inverse *= 2 - x * inverse;
    }
    long y = (BLOCK ^ secret(3)) * inverse;
    return ByteBuffer.allocate(BLOCK)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(x ^ secret(1))
        .putLong(y ^ secret(2))
        .array();
  }
}
