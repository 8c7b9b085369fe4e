package tech.bsdb.verify;

import java.io.IOException;
import java.util.Arrays;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.lookup.OrderedWalk;
import tech.bsdb.order.OrderCheck;

/**
 * Verifies that the order of keys of a database holds each of its keys once, in ascending order,
 * with the address of its record: it has as many keys as there are records, all different, and the
 * record of each is found by the way that ranges take.
 */
final class OrderVerification {
  /** How many keys pass between two reports. */
  private static final int REPORT = 1 << 12;

  private OrderVerification() {}

  /**
   * Verifies the order of keys.
   *
   * @param number the number of the database in the lookup
   * @throws CorruptDatabaseException if it is not the order of the keys
   */
  static void run(
      Lookup lookup,
      int number,
      DatabaseDirectory directory,
      DatabaseVerification.Follower follower)
      throws IOException {
    FileEntry entry = directory.manifest().files(FileKind.ORDER).get(0);
    lookup.withOrder(number, OrderCheck::requireSound);
    long records = directory.facts().records();
    long found = 0;
    byte[] last = new byte[0];
    OrderedWalk walk = OrderedWalk.ofOne(lookup, number);
    while (walk.next()) {
      byte[] key = walk.key();
      if (found > 0 && Arrays.compareUnsigned(last, key) >= 0) {
        throw directory.check(entry).corrupt(0, "keys in ascending order", "another order");
      }
      last = key;
      if (++found % REPORT == 0) {
        follower.verified(0);
      }
    }
    if (found != records) {
      throw directory.check(entry).corrupt(0, records + " keys in order", found + "");
    }
  }
}
