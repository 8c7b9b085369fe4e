package tech.bsdb;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Makes keys of 64 bytes that have a signature of our choice, by running SpookyHash backwards: it
 * is no cryptographic hash. By chance, two keys share a signature once in 2^64 builds of 2^32 keys.
 */
public final class SpookyCollision {
  private static final long ARBITRARY = 0x9e3779b97f4a7c13L;
  private static final int[] MIX = {50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36};
  private static final int[] END = {15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63};
  private static final int LENGTH = 64;

  private SpookyCollision() {}

  /** A key with that signature at seed 0; another salt gives another key. */
  public static byte[] key(long high, long low, long salt) {
    long[] h = {high, low, salt, ~salt};
    for (int i = END.length - 1; i >= 0; i--) {
      int a = (3 + i) & 3;
      int b = (2 + i) & 3;
      h[a] -= h[b];
      h[b] = Long.rotateRight(h[b], END[i]);
      h[a] ^= h[b];
    }
    h[0] -= LENGTH << 3;
    h[2] -= ARBITRARY;
    h[3] -= ARBITRARY;
    for (int i = MIX.length - 1; i >= 0; i--) {
      int x = (2 + i) & 3;
      h[(x + 2) & 3] ^= h[x];
      h[x] = Long.rotateRight(h[x] - h[(x + 1) & 3], MIX[i]);
    }
    long[] first = {0, 0, ARBITRARY, ARBITRARY}; // the state after a first half-block of zeros
    for (int i = 0; i < MIX.length; i++) {
      int x = (2 + i) & 3;
      first[x] = Long.rotateLeft(first[x], MIX[i]) + first[(x + 1) & 3];
      first[(x + 2) & 3] ^= first[x];
    }
    ByteBuffer key = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 4; i++) {
      key.putLong(16 + 8 * i, h[i] - first[i]);
    }
    return key.array();
  }
}
