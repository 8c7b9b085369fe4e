package tech.bsdb.tools.publish;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import tech.bsdb.Database;
import tech.bsdb.ScanOptions;

/** Keys drawn evenly from the first million records of a database; always the same ones. */
final class KeySample {
  private static final long SEED = 20_261_121;
  private static final long RECORDS = 1_000_000;

  private KeySample() {}

  /**
   * Draws keys by a scan (Vitter's algorithm R).
   *
   * @param most the maximum number of keys
   */
  static List<byte[]> of(Database database, int most) throws IOException {
    SplittableRandom random = new SplittableRandom(SEED);
    List<byte[]> keys = new ArrayList<>();
    try (Database.RecordCursor records = database.scan(ScanOptions.defaults().withValues(false))) {
      for (long seen = 0; seen < RECORDS && records.next(); seen++) {
        if (keys.size() < most) {
          keys.add(records.key());
        } else {
          long place = random.nextLong(seen + 1);
          if (place < most) {
            keys.set((int) place, records.key());
          }
        }
      }
    }
    return keys;
  }
}
