package tech.bsdb.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
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

  /**
   * A uniform random sample of the offered records. The same records and seed give the same sample.
   * Not thread-safe.
   */
  static final class Reservoir {
    private final int capacity;
    private final SplittableRandom random;
    private final List<byte[]> keys = new ArrayList<>();
    private final @Nullable List<byte[]> values;
    private long offered;

    /**
     * Creates an empty sample.
     *
     * @param capacity the maximum number of records it holds
     * @param withValues whether to hold the values too
     */
    Reservoir(int capacity, boolean withValues, long seed) {
      this.capacity = capacity;
      this.random = new SplittableRandom(seed);
      this.values = withValues ? new ArrayList<>() : null;
    }

    /**
     * Offers the next record.
     *
     * @return its place, for {@link #put}, or -1 if it is not sampled
     */
    int offer() {
      long number = offered++;
      if (number < capacity) {
        return (int) number;
      }
      long place = random.nextLong(number + 1);
      return place < capacity ? (int) place : -1;
    }

    /** Stores a record, without copying its arrays, at the place returned by {@link #offer}. */
    void put(int place, byte[] key, byte[] value) {
      put(keys, place, key);
      if (values != null) {
        put(values, place, value);
      }
    }

    private static void put(List<byte[]> list, int place, byte[] bytes) {
      if (place == list.size()) {
        list.add(bytes);
      } else {
        list.set(place, bytes);
      }
    }

    /**
     * Returns the sample in shuffled order, with keys copied so that neighbours are adjacent in
     * memory.
     */
    KeySet shuffled(String source) {
      int count = keys.size();
      int[] order = new int[count];
      for (int i = 0; i < count; i++) {
        int other = random.nextInt(i + 1);
        order[i] = order[other];
        order[other] = i;
      }
      byte[][] present = new byte[count][];
      byte[][] expected = values == null ? null : new byte[count][];
      for (int i = 0; i < count; i++) {
        present[i] = keys.get(order[i]).clone();
        if (values != null && expected != null) {
          expected[i] = values.get(order[i]);
        }
      }
      return new KeySet(present, expected, new byte[0][], offered, source);
    }
  }
}
