package tech.bsdb.bench;

import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.OpenOptions.Engine;

/** Measures {@code Database.getAsync}, for the options that {@code AsyncReader} lacks. */
final class AsyncDatabase implements LoadTarget {
  private final Database database;
  private final double rate;
  private final String note;

  private AsyncDatabase(Database database, double rate, String note) {
    this.database = database;
    this.rate = rate;
    this.note = note;
  }

  /**
   * Opens the database of the options. Direct reads use io_uring if available, otherwise threads.
   */
  static AsyncDatabase open(LoadOptions options) throws IOException {
    boolean direct = options.indexDirect() || options.dataDirect();
    if (direct) {
      try {
        return opened(options, Engine.IO_URING, "");
      } catch (IOException | UnsupportedOperationException refused) {
        return opened(options, Engine.DIRECT, "; io_uring: " + refused.getMessage());
      }
    }
    return opened(options, Engine.DIRECT, "");
  }

  private static AsyncDatabase opened(LoadOptions options, Engine direct, String note)
      throws IOException {
    Database database =
        Database.open(options.database(), SyncDatabase.openOptions(options, direct));
    return new AsyncDatabase(database, options.rate(), note);
  }

  @Override
  public String api() {
    return "Database.getAsync";
  }

  @Override
  public String engine() {
    return database.statistics().engine() + note;
  }

  @Override
  public Worker worker(
      KeySet keys, RequestOrder order, Step step, int worker, BooleanSupplier stopped) {
    return new AsyncWorker(
        lookups, keys, order, step.depth(), rate, worker, step.threads(), stopped);
  }

  private final AsyncTarget lookups =
      new AsyncTarget() {
        @Override
        public <A> void get(
            byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler) {
          CompletableFuture<?> unused =
              database
                  .getAsync(key)
                  .whenComplete(
                      (value, failure) -> {
                        if (failure != null) {
                          handler.failed(failure, attachment);
                        } else {
                          handler.completed(value, attachment);
                        }
                      });
        }
      };

  @Override
  public void close() throws IOException {
    database.close();
  }
}
