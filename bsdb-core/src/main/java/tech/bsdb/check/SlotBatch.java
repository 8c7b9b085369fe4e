package tech.bsdb.check;

import java.io.IOException;
import java.util.SplittableRandom;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;
import tech.bsdb.lookup.AddressedLocator;
import tech.bsdb.lookup.Locator;

/**
 * A batch of records of a scan, whose slots are found together so that the cache misses of the hash
 * function overlap. Not thread-safe.
 */
final class SlotBatch {
  /** Few enough that what one step touches is still cached in the next. */
  private static final int MOST = 128;

  private final DatabaseDirectory directory;
  private final AddressedLocator locator;
  private final Signature signature = new Signature();
  private final Extent extent = new Extent();
  private final long[] highs = new long[MOST];
  private final long[] lows = new long[MOST];
  private final long[] slots = new long[MOST];
  private final long[] scratch = new long[MOST];
  private final long[] addresses = new long[MOST];
  private int count;

  /** Creates an empty batch. */
  SlotBatch(DatabaseDirectory directory, AddressedLocator locator) {
    this.directory = directory;
    this.locator = locator;
  }

  /** Takes the next records and finds their slots; returns false if there are none. */
  boolean take(RecordScanner scanner) throws IOException {
    count = 0;
    while (count < MOST && scanner.next()) {
      byte[] key = scanner.key();
      directory.requireRoutedHere(key);
      locator.sign(key, signature);
      highs[count] = signature.high;
      lows[count] = signature.low;
      addresses[count++] = scanner.address();
    }
    locator.findSlots(highs, lows, slots, scratch, count);
    return count > 0;
  }

  /** The number of records in the batch. */
  int count() {
    return count;
  }

  /** Adds all (slot, address) pairs to a sum; returns false if a record has no slot. */
  boolean addTo(AddressSum sum) {
    for (int i = 0; i < count; i++) {
      if (slots[i] == Locator.ABSENT) {
        return false;
      }
      sum.add(slots[i], addresses[i]);
    }
    return true;
  }

  /** Counts the slots that hold their record's address. */
  int countLeading() throws IOException {
    int leading = 0;
    for (int i = 0; i < count; i++) {
      if (locator.leadsTo(slots[i], addresses[i], extent)) {
        leading++;
      }
    }
    return leading;
  }

  /**
   * An order-independent sum over (slot, address) pairs. Two sets with equal sums are equal, except
   * with probability about 2^-120; random numbers in every sum keep anyone from provoking a
   * collision. Not thread-safe.
   */
  static final class AddressSum {
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
}
