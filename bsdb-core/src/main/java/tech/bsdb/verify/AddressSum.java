package tech.bsdb.verify;

import java.util.SplittableRandom;

/**
 * An order-independent sum over (slot, address) pairs. Two sets with equal sums are equal, except
 * with probability about 2^-120; random numbers in every sum keep anyone from provoking a
 * collision. Not thread-safe.
 */
final class AddressSum {
  private final long first;
  private final long second;
  private long low;
  private long high;

  private AddressSum(long first, long second) {
    this.first = first;
    this.second = second;
  }

  /** Creates an empty sum with new random numbers. */
  static AddressSum random() {
    SplittableRandom random = new SplittableRandom(new java.security.SecureRandom().nextLong());
    return new AddressSum(random.nextLong(), random.nextLong());
  }

  /** Creates an empty sum that can be compared with this one. */
  AddressSum another() {
    return new AddressSum(first, second);
  }

  /** Adds a pair. */
  void add(long slot, long address) {
    long pair = mixed(mixed(slot + first) ^ address);
    low += pair;
    high += mixed(pair + second);
  }

  /** Whether the same pairs were added to both. */
  boolean agreesWith(AddressSum other) {
    return low == other.low && high == other.high;
  }

  /** The finisher of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
  private static long mixed(long number) {
    long z = (number ^ number >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }
}
