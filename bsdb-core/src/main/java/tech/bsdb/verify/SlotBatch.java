package tech.bsdb.verify;

import java.io.IOException;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.io.Extent;
import tech.bsdb.locate.AddressedLocator;
import tech.bsdb.locate.Starts;

/**
 * A batch of records of a scan, whose slots are found together so that the cache misses of the hash
 * function overlap. Not thread-safe.
 */
final class SlotBatch {
  private final DatabaseDirectory directory;
  private final AddressedLocator locator;
  private final Starts starts;
  private final Extent extent = new Extent();
  private final long[] addresses = new long[Starts.MOST];
  private int count;

  /** Creates an empty batch. */
  SlotBatch(DatabaseDirectory directory, AddressedLocator locator) {
    this.directory = directory;
    this.locator = locator;
    this.starts = new Starts(locator);
  }

  /** Takes the next records and finds their slots; returns false if there are none. */
  boolean take(RecordScanner scanner) throws IOException {
    count = 0;
    starts.touches().clear();
    while (count < Starts.MOST && scanner.next()) {
      if (!directory.isRoutedHere(scanner.key())) {
        throw directory.misrouted(scanner.key());
      }
      starts.sign(locator, 0, count, scanner.key());
      addresses[count++] = scanner.address();
    }
    starts.find(locator, count);
    return count > 0;
  }

  /** The number of records in the batch. */
  int count() {
    return count;
  }

  /** Adds all (slot, address) pairs to a sum; returns false if a record has no slot. */
  boolean addTo(AddressSum sum) {
    for (int i = 0; i < count; i++) {
      if (starts.isAbsent(i)) {
        return false;
      }
      sum.add(starts.places()[i], addresses[i]);
    }
    return true;
  }

  /** Counts the slots that hold their record's address. */
  int countLeading() throws IOException {
    starts.touches().load();
    int leading = 0;
    for (int i = 0; i < count; i++) {
      if (locator.leadsTo(starts.places()[i], addresses[i], extent)) {
        leading++;
      }
    }
    return leading;
  }
}
