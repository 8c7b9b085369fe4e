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
import tech.bsdb.tools.input.Input;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.input.RecordSource;
import tech.bsdb.tools.parquet.ParquetOptions;
import tech.bsdb.tools.parquet.ParquetOptions.Partitions;
import tech.bsdb.tools.parquet.ParquetRecords;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;

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

  /**
   * Generates keys that a database certainly lacks but that resemble its own.
   *
   * <p>A present key extended by random bytes to one byte more than the longest key cannot be in
   * the database. This needs no lookup, so no page is read into memory. If the longest key is so
   * long that this would produce unusual keys, a present key is altered and looked up instead; a
   * key that is not found is absent, even in an approximate database.
   */
  static final class AbsentKeys {
    /** Looks up a key. */
    @FunctionalInterface
    interface Lookup {
      byte @Nullable [] get(byte[] key) throws IOException;
    }

    /** The maximum number of distinct absent keys; more would only take memory. */
    static final int MOST = 1_000_000;

    private static final int USUAL_KEY = 256;
    private static final int TRIES = 1_000;

    private AbsentKeys() {}

    /**
     * Generates absent keys.
     *
     * @param present keys that they should resemble
     * @param longestKey the length of the database's longest key
     * @throws IOException if the database cannot be read or has every key tried
     */
    static byte[][] like(byte[][] present, long longestKey, Lookup database, long seed)
        throws IOException {
      SplittableRandom random = new SplittableRandom(~seed);
      byte[][] absent = new byte[Math.min(MOST, present.length)][];
      for (int i = 0; i < absent.length; i++) {
        absent[i] =
            longestKey <= USUAL_KEY
                ? longer(present[i], (int) longestKey + 1, random)
                : changed(present[i], database, random);
      }
      return absent;
    }

    private static byte[] longer(byte[] key, int length, SplittableRandom random) {
      byte[] longer = new byte[length];
      int kept = Math.min(key.length, length - 1);
      System.arraycopy(key, 0, longer, 0, kept);
      randomize(longer, kept, random);
      return longer;
    }

    private static byte[] changed(byte[] key, Lookup database, SplittableRandom random)
        throws IOException {
      for (int tried = 0; tried < TRIES; tried++) {
        byte[] changed = new byte[Math.max(8, key.length)];
        System.arraycopy(key, 0, changed, 0, key.length);
        randomize(changed, changed.length - 8, random);
        if (database.get(changed) == null) {
          return changed;
        }
      }
      throw new IOException(
          "no absent keys found: the database gives a value for each of "
              + TRIES
              + " random keys (-cb 0 does that in approximate mode); leave --absent out");
    }

    private static void randomize(byte[] bytes, int from, SplittableRandom random) {
      for (int i = from; i < bytes.length; i++) {
        bytes[i] = (byte) random.nextInt(256);
      }
    }
  }

  /** The source that a database was built from: keys, and values to compare answers with. */
  sealed interface KeyInput {
    /** Files, directories or, for text, "-" for standard input. */
    List<String> inputs();

    /**
     * Opens the source.
     *
     * @param database the database built from it
     * @param withValues whether values are also compared
     */
    RecordSource open(Statistics database, boolean withValues) throws IOException, UsageException;

    /** Lines of text. */
    record Text(InputOptions options) implements KeyInput {
      @Override
      public List<String> inputs() {
        return options.inputs();
      }

      @Override
      public RecordSource open(Statistics database, boolean withValues) throws IOException {
        return Input.open(options);
      }
    }

    /**
     * Rows of Parquet files. The value is the one the database stores: a row of the columns in its
     * schema, or the bytes of one column.
     *
     * @param rawColumn the column whose bytes are the value, or null
     * @param partitions how to treat directories named {@code NAME=VALUE}
     */
    record Parquet(
        List<String> inputs,
        List<String> keyColumns,
        @Nullable String keyJoin,
        @Nullable String rawColumn,
        Partitions partitions,
        FileSourceOptions sources)
        implements KeyInput {
      @Override
      public RecordSource open(Statistics database, boolean withValues)
          throws IOException, UsageException {
        RowSchema stored = RowSchema.stored(database);
        if (withValues && (stored == null) == (rawColumn == null)) {
          throw new UsageException(
              stored == null
                  ? database.directory()
                      + " has no typed rows: name the column of its values with --value-raw"
                  : database.directory() + " has typed rows; leave --value-raw out");
        }
        ParquetRecords records = records(withValues ? stored : null, withValues);
        if (withValues && stored != null && !stored.json().equals(records.valueSchema())) {
          records.close();
          throw new UsageException(
              ("the rows of %s have a different schema from those of %s, so that -v cannot compare"
                      + " them: %s, not %s")
                  .formatted(
                      String.join(", ", inputs),
                      database.directory(),
                      records.valueSchema(),
                      stored.json()));
        }
        return records;
      }

      private ParquetRecords records(@Nullable RowSchema rows, boolean withValues)
          throws IOException {
        return ParquetRecords.open(
            new ParquetOptions(
                    inputs,
                    keyColumns,
                    keyJoin,
                    rows == null ? List.of() : rows.columns(),
                    withValues ? rawColumn : null,
                    !withValues,
                    OnBadLine.SKIP,
                    null,
                    true,
                    Integer.MAX_VALUE,
                    Math.min(256, Runtime.getRuntime().availableProcessors()))
                .withPartitions(partitions),
            FileSources.open(sources));
      }
    }
  }
}
