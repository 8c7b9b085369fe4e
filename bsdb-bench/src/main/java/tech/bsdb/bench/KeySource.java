package tech.bsdb.bench;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.RecordSource;

/**
 * Loads keys from the text or Parquet files that the database was built from, or from the database
 * itself.
 */
final class KeySource {
  private static final byte[] NOTHING = {};

  private KeySource() {}

  /**
   * Loads a sample of the keys.
   *
   * @param input the source that it was built from, or null for the database's own keys
   * @param limit the maximum number of keys to hold
   * @param withValues whether to hold the values too
   */
  static KeySet load(
      Database database,
      @Nullable KeyInput input,
      int limit,
      boolean withValues,
      long seed,
      Progress progress)
      throws IOException, UsageException {
    Reservoir sample = new Reservoir(limit, withValues, seed);
    KeySet keys =
        input == null
            ? scanned(database, sample, progress)
            : read(input, database.statistics(), withValues, sample, progress);
    if (keys.present().length == 0) {
      throw new UsageException("there are no keys to look up in " + keys.source());
    }
    return keys;
  }

  private static KeySet read(
      KeyInput from, Statistics database, boolean withValues, Reservoir sample, Progress progress)
      throws IOException, UsageException {
    try (RecordSource records = from.open(database, withValues)) {
      records.forEach(
          (key, keyFrom, keyLength, value, valueFrom, valueLength) -> {
            int place = sample.offer();
            if (place >= 0) {
              sample.put(
                  place,
                  Arrays.copyOfRange(key, keyFrom, keyFrom + keyLength),
                  Arrays.copyOfRange(value, valueFrom, valueFrom + valueLength));
            }
          },
          (bytes, allBytes, read) ->
              progress.update("keys", read, allBytes > 0 ? (double) bytes / allBytes : -1));
    }
    return sample.shuffled(String.join(", ", from.inputs()));
  }

  private static KeySet scanned(Database database, Reservoir sample, Progress progress)
      throws IOException, UsageException {
    if (database.statistics().approximateWidth() > 0) {
      throw new UsageException(
          "an approximate database keeps no keys: name the source that it was built from with -k");
    }
    long records = database.statistics().records();
    try (RecordCursor cursor = database.scan()) {
      for (long seen = 0; cursor.next(); seen++) {
        int place = sample.offer();
        if (place >= 0) {
          sample.put(place, cursor.key(), NOTHING);
        }
        if ((seen & 0xFFFF) == 0) {
          progress.update("keys", seen, records);
        }
      }
    }
    return sample.shuffled("a scan of the database");
  }
}
