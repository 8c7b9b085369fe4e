package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;

/** This project's store: {@code Database}, with default checksum verification. */
record BsdbStore(BuildOptions options) implements ComparedStore {
  @Override
  public void build(Records records, Path directory) throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(directory.resolve("db"), options)) {
      if (options.layout() == Layout.COMPRESSED) {
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
    return List.of("mapped", "buffered");
  }

  @Override
  public int width() {
    return options.approximateWidth() > 0 ? options.approximateWidth() : Integer.MAX_VALUE;
  }

  @Override
  public Reader open(Path directory, String reading) throws IOException {
    OpenOptions how =
        OpenOptions.defaults().withEngine(Engine.valueOf(reading.toUpperCase(Locale.ROOT)));
    return new BsdbReader(Database.open(directory.resolve("db"), how));
  }

  private record BsdbReader(Database database) implements Reader {
    @Override
    public byte @Nullable [] get(byte[] key) throws IOException {
      return database.get(key);
    }

    @Override
    public Reader forAnotherThread() {
      return this;
    }

    @Override
    public void close() throws IOException {
      database.close();
    }
  }
}
