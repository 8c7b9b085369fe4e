package tech.bsdb.lookup;

import java.io.IOException;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.Signature;
import tech.bsdb.index.AddressIndex;

/**
 * A batch of records of a scan, whose slots are found together so that the cache misses of the hash
 * function overlap. Not thread-safe.
 */
final class SlotBatch {
  private static final int MOST = 128;

  private final LookupPath path;
  private final AddressIndex index;
  private final Signature signature = new Signature();
  private final long[] highs = new long[MOST];
  private final long[] lows = new long[MOST];
  private final long[] slots = new long[MOST];
  private final long[] addresses = new long[MOST];
  private int count;

  /** Creates a batch for an exact database. */
  SlotBatch(LookupPath path, AddressIndex index) {
    this.path = path;
    this.index = index;
  }

  /** Takes the next records; returns false if there are none. */
  boolean take(RecordScanner scanner) throws IOException {
    count = 0;
    while (count < MOST && scanner.next()) {
      path.sign(scanner.key(), signature);
      highs[count] = signature.high;
      lows[count] = signature.low;
      addresses[count++] = scanner.address();
    }
    return count > 0;
  }

  /** The number of records in the batch. */
  int count() {
    return count;
  }

  /** Finds the slots of all records. */
  void findSlots() throws IOException {
    StagedLookups.findSlots(path.hash(), highs, lows, slots, count);
  }

  /** Adds all (slot, address) pairs to a sum; returns false if a record has no slot. */
  boolean addTo(AddressSum sum) {
    for (int i = 0; i < count; i++) {
      if (slots[i] == HashFunction.ABSENT) {
        return false;
      }
      sum.add(slots[i], addresses[i]);
    }
    return true;
  }

  /** Counts the slots that hold their record's address. */
  int countLeading(Session session) throws IOException {
    StagedLookups.touchIndex(index, slots, count);
    int leading = 0;
    for (int i = 0; i < count; i++) {
      if (slots[i] != HashFunction.ABSENT) {
        index.locate(slots[i], session.index);
        session.index.read();
        if (index.address(slots[i], session.index) == addresses[i]) {
          leading++;
        }
      }
    }
    return leading;
  }
}
