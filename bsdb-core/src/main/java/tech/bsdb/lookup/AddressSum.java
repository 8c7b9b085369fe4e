package tech.bsdb.lookup;

import java.util.SplittableRandom;

/**
 * A sum over pairs of a slot and an address that does not depend on their order: two sets of pairs
 * with equal sums are equal, but for a chance of about 2^-120 that nobody can bring about, because
 * every sum is made with numbers drawn at random. Not thread-safe.
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

  /** A sum of no pairs. */
  static AddressSum random() {
    SplittableRandom random = new SplittableRandom(new java.security.SecureRandom().nextLong());
    return new AddressSum(random.nextLong(), random.nextLong());
  }

  /** A sum of no pairs that can be compared with this one. */
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
