package tech.bsdb.bench;

import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;

/** Measures {@code Database.get} and {@code Database.getAll}. */
final class SyncDatabase implements LoadTarget {
  private final Database database;
  private final int batch;
  private final double rate;

  /** Opens the database of the options. */
  SyncDatabase(LoadOptions options) throws IOException {
    this.database = Database.open(options.database(), openOptions(options, Engine.DIRECT));
    this.batch = options.batch();
    this.rate = options.rate();
  }

  /**
   * Returns the options for opening the database.
   *
   * @param direct the engine to use for direct I/O
   */
  static OpenOptions openOptions(LoadOptions options, Engine direct) {
    Engine named = options.engine();
    OpenOptions open =
        OpenOptions.defaults()
            .withEngine(named == null ? Engine.AUTO : named)
            .withIndexInMemory(options.indexInMemory());
    if (options.indexDirect()) {
      open = open.withIndexEngine(direct);
    }
    return options.dataDirect() ? open.withDataEngine(direct) : open;
  }

  @Override
  public String api() {
    return batch == 1 ? "Database.get" : "Database.getAll, " + batch + " keys at a time";
  }

  @Override
  public String engine() {
    return database.statistics().engine();
  }

  @Override
  public Worker worker(
      KeySet keys, RequestOrder order, Step step, int worker, BooleanSupplier stopped) {
    return new SyncWorker(lookups, keys, order, batch, rate, worker, step.threads(), stopped);
  }

  private final SyncTarget lookups =
      new SyncTarget() {
        @Override
        public byte @Nullable [] get(byte[] key) throws IOException {
          return database.get(key);
        }

        @Override
        public List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
          return database.getAll(keys);
        }
      };

  @Override
  public void close() throws IOException {
    database.close();
  }
}
