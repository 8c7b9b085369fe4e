package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.KeyRange;
import tech.bsdb.LookupBatch;
import tech.bsdb.MemoryUse;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.RangeOptions;
import tech.bsdb.ValueReader;

/** This project's store: {@code Database}, with default checksum verification. */
record BsdbStore(BuildOptions options) implements ComparedStore {
  private static final int BATCH = 256;
  private static final String BATCHES = "mapped, batches of " + BATCH;

  @Override
  public void build(Records records, Path directory) throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(directory.resolve("db"), options)) {
      if (options.layout().isCompressed()) {
        for (Records.KeyValue record : records.sample(options.sampleRecords())) {
          builder.sample(record.key(), record.value());
        }
      }
      for (Records.KeyValue record : records) {
        builder.add(record.key(), record.value());
      }
      builder.finish();
    }
  }

  @Override
  public List<String> readings() {
    return List.of("mapped", "buffered", BATCHES);
  }

  @Override
  public int batch(String reading) {
    return reading.equals(BATCHES) ? BATCH : 1;
  }

  @Override
  public int width() {
    return width(options.approximateWidth());
  }

  private static int width(int approximateWidth) {
    return approximateWidth > 0 ? approximateWidth : Integer.MAX_VALUE;
  }

  @Override
  public Reader open(Path directory, String reading) throws IOException {
    return open(
        directory.resolve("db"),
        Engine.valueOf(reading.replaceAll(",.*", "").toUpperCase(Locale.ROOT)));
  }

  /** Opens a database. */
  static BsdbReader open(Path database, Engine engine) throws IOException {
    return new BsdbReader(Database.open(database, OpenOptions.defaults().withEngine(engine)), true);
  }

  /** A reader of a database, with one batch that it reuses. */
  static final class BsdbReader implements Reader {
    private final Database database;
    private final boolean closesDatabase;
    private @Nullable LookupBatch batch;
    private long valueSum;
    private final ValueReader<BsdbReader> sumOfValue =
        value -> {
          valueSum = ValueSum.of(value.remaining(), value.getLong(0));
          return this;
        };

    private BsdbReader(Database database, boolean closesDatabase) {
      this.database = database;
      this.closesDatabase = closesDatabase;
    }

    /** The length in bytes to which values are truncated; see {@link ComparedStore#width}. */
    int width() {
      return BsdbStore.width(database.statistics().approximateWidth());
    }

    /** The name of the layout. */
    String layout() {
      return database.statistics().layout();
    }

    /** What of the database is in memory. */
    MemoryUse memoryUse() throws IOException {
      return database.memoryUse();
    }

    @Override
    public byte @Nullable [] get(byte[] key) throws IOException {
      return database.get(key);
    }

    @Override
    public boolean hasReads() {
      return true;
    }

    @Override
    public long read(byte[] key) throws IOException {
      return database.read(key, sumOfValue) == null ? ValueSum.ABSENT : valueSum;
    }

    @Override
    public boolean hasBatches() {
      return true;
    }

    @Override
    public void getBatch(byte[][] keys, int from, int to, byte @Nullable [][] values)
        throws IOException {
      LookupBatch together = lookUp(keys, from, to);
      for (int i = from; i < to; i++) {
        values[i] = together.value(i - from);
      }
    }

    @Override
    public long readBatch(byte[][] keys, int from, int to) throws IOException {
      LookupBatch together = lookUp(keys, from, to);
      long sum = 0;
      for (int i = 0; i < to - from; i++) {
        int length = together.length(i);
        sum +=
            length < 0
                ? ValueSum.ABSENT
                : ValueSum.of(together.values(), together.offset(i), length);
      }
      return sum;
    }

    private LookupBatch lookUp(byte[][] keys, int from, int to) throws IOException {
      if (batch == null) {
        batch = database.batch();
      }
      LookupBatch together = batch;
      together.clear();
      for (int i = from; i < to; i++) {
        together.add(keys[i]);
      }
      together.get();
      return together;
    }

    @Override
    public boolean hasRanges() {
      return database.isOrdered();
    }

    @Override
    public int range(byte[] from, byte[][] keys, byte @Nullable [] @Nullable [] values)
        throws IOException {
      RangeOptions options =
          RangeOptions.defaults().withValues(values != null).withLimit(keys.length);
      int count = 0;
      try (Database.RecordCursor cursor = database.range(KeyRange.all().from(from), options)) {
        while (cursor.next()) {
          keys[count] = cursor.key();
          if (values != null) {
            values[count] = cursor.value();
          }
          count++;
        }
      }
      return count;
    }

    @Override
    public Reader forAnotherThread() {
      return new BsdbReader(database, false);
    }

    @Override
    public void close() throws IOException {
      if (closesDatabase) {
        database.close();
      }
    }
  }
}
