package tech.bsdb.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The signature function of databases of format 2: a hash of 128 bits by <em>multiply and mix</em>
 * (MUM), the step of Vladimir Makarov's mum-hash (2016) on which wyhash and rapidhash are built,
 * here with 128 bits of state throughout (FORMAT.md §5). All its bits depend on all bits of the
 * key.
 *
 * <p>Keys of at most {@value #SHORT} bytes, the most frequent ones, need no place for the result:
 *
 * <pre>{@code
 * long first = MumHash.first(bytes, offset, length);
 * long second = MumHash.second(bytes, offset, length);
 * long high = hash.high(first, second, length);
 * long low = hash.low(first, second, length);
 * }</pre>
 *
 * <p>Immutable and thread-safe.
 */
public final class MumHash {
  /** The most bytes of a key that consists of a first and a second word alone. */
  public static final int SHORT = 16;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /*
   * A step takes a state of two words, XORs two words of the key into it, and multiplies them to 128
   * bits: the next state. The high half is that of signed numbers, because Java has an intrinsic for
   * it since version 9, and for that of unsigned ones since version 18.
   *
   * The high half is XORed with the difference of the factors. So the order of the factors counts,
   * and none erases the other: if y is 2^k times an odd number, k < 64, two states with that y and
   * different x have different low halves, or their x differ by j * 2^(64-k). Then their high halves
   * differ by j times an odd number, so that the lowest bit in which they differ is that of j, and
   * the lowest one in which the differences x - y do lies above it. With y = 0, x - y is x.
   *
   * The state starts with two secrets, so that nobody who does not know the seed can choose words
   * that make a factor zero. Four more secrets make two different products of the last state; the
   * halves of each, XORed, are a word of the signature. The length is XORed into the state before:
   * keys with the same words and different lengths then differ whatever the seed.
   *
   * Among functions with the same number of multiplications on the way to the result, this one was
   * the fastest (docs/decisions/0023-signature-function.md).
   */
  private final long start0;
  private final long start1;
  private final long high0;
  private final long high1;
  private final long low0;
  private final long low1;

  /** Creates the function with a seed. */
  MumHash(long seed) {
    start0 = secret(seed, 1);
    start1 = secret(seed, 2);
    high0 = secret(seed, 3);
    high1 = secret(seed, 4);
    low0 = secret(seed, 5);
    low1 = secret(seed, 6);
  }

  /** The {@code number}-th output of SplitMix64 from the seed, counted from 1. */
  static long secret(long seed, int number) {
    long z = seed + number * 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }

  /** The first word of a key of 0 to {@value #SHORT} bytes. */
  public static long first(byte[] bytes, int offset, int length) {
    if (length >= 8) {
      return (long) LONGS.get(bytes, offset);
    }
    return length >= 4 ? word4(bytes, offset) : firstOfFew(bytes, offset, length);
  }

  /** The second word of a key of 0 to {@value #SHORT} bytes, which may overlap the first one. */
  public static long second(byte[] bytes, int offset, int length) {
    if (length >= 8) {
      return (long) LONGS.get(bytes, offset + length - 8);
    }
    return length >= 4
        ? word4(bytes, offset + length - 4)
        : length > 0 ? bytes[offset + length - 1] & 0xFFL : 0;
  }

  private static long word4(byte[] bytes, int at) {
    return (int) INTS.get(bytes, at) & 0xFFFF_FFFFL;
  }

  private static long firstOfFew(byte[] bytes, int offset, int length) {
    return length > 0 ? bytes[offset] & 0xFFL | (bytes[offset + (length >> 1)] & 0xFFL) << 8 : 0;
  }

  /** The first 64 bits of the signature of a key of 0 to {@value #SHORT} bytes. */
  public long high(long first, long second, int length) {
    return highOf(first ^ start0, second ^ start1, length);
  }

  /** The last 64 bits of the signature of a key of 0 to {@value #SHORT} bytes. */
  public long low(long first, long second, int length) {
    return lowOf(first ^ start0, second ^ start1, length);
  }

  private long highOf(long x, long y, int length) {
    return fold(x * y ^ length ^ high0, mixed(x, y) ^ high1);
  }

  private long lowOf(long x, long y, int length) {
    return fold(x * y ^ length ^ low0, mixed(x, y) ^ low1);
  }

  /** The second word of a state; the first is the product of the factors. */
  private static long mixed(long x, long y) {
    return Math.multiplyHigh(x, y) ^ x - y;
  }

  private static long fold(long x, long y) {
    return x * y ^ Math.multiplyHigh(x, y);
  }

  /**
   * Computes the signature of a key.
   *
   * @param length bytes of the key, at least 0
   * @throws IndexOutOfBoundsException if the key lies outside the array
   */
  void sign(byte[] bytes, int offset, int length, Signature to) {
    if (length <= SHORT) {
      long x = first(bytes, offset, length) ^ start0;
      long y = second(bytes, offset, length) ^ start1;
      to.high = highOf(x, y, length);
      to.low = lowOf(x, y, length);
    } else {
      signLong(bytes, offset, length, to);
    }
  }

  private void signLong(byte[] bytes, int offset, int length, Signature to) {
    long state0 = start0;
    long state1 = start1;
    int last = offset + length - 16;
    int at = offset;
    do {
      long x = state0 ^ (long) LONGS.get(bytes, at);
      long y = state1 ^ (long) LONGS.get(bytes, at + 8);
      state0 = x * y;
      state1 = mixed(x, y);
      at += 16;
    } while (at < last);
    long x = state0 ^ (long) LONGS.get(bytes, last);
    long y = state1 ^ (long) LONGS.get(bytes, last + 8);
    to.high = highOf(x, y, length);
    to.low = lowOf(x, y, length);
  }
}
