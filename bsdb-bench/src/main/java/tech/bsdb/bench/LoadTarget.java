package tech.bsdb.bench;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.bench.AsyncWorker.AsyncTarget;
import tech.bsdb.bench.LoadOptions.Step;
import tech.bsdb.bench.Pace.Clock;
import tech.bsdb.bench.SyncWorker.SyncTarget;
import tech.bsdb.read.AsyncReader;

/**
 * The target of a load, opened according to the options: {@code Database.get} and {@code getAll},
 * the documented asynchronous reader, or {@code Database.getAsync} for the options that the reader
 * lacks.
 *
 * @param api the name of the measured interface
 * @param engine tells the engine in use, and why
 * @param workers creates the workers of a step
 * @param opened what to close at the end
 */
record LoadTarget(String api, Supplier<String> engine, Workers workers, Closeable opened)
    implements AutoCloseable {
  /** Creates workers. */
  @FunctionalInterface
  interface Workers {
    /** Creates the worker number {@code worker} of a step. */
    Worker create(KeySet keys, RequestOrder order, Step step, int worker, BooleanSupplier stopped);
  }

  /**
   * Opens the database of the options.
   *
   * @param approximate whether the database is approximate
   */
  static LoadTarget open(LoadOptions options, boolean approximate) throws IOException {
    if (!options.async()) {
      return synchronous(options);
    }
    if (options.engine() == null && !options.indexInMemory()) {
      return reader(options, approximate);
    }
    if (options.indexDirect() || options.dataDirect()) {
      try {
        return asynchronous(options, Engine.IO_URING, "");
      } catch (IOException | UnsupportedOperationException refused) {
        return asynchronous(options, Engine.DIRECT, "; io_uring: " + refused.getMessage());
      }
    }
    return asynchronous(options, Engine.DIRECT, "");
  }

  private static LoadTarget synchronous(LoadOptions options) throws IOException {
    Database database = open(options, Engine.DIRECT);
    int batch = options.batch();
    SyncTarget lookups =
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
    return new LoadTarget(
        batch == 1 ? "Database.get" : "Database.getAll, " + batch + " keys at a time",
        () -> database.statistics().engine(),
        (keys, order, step, worker, stopped) ->
            new SyncWorker(
                lookups,
                keys,
                order,
                batch,
                options.rate(),
                worker,
                step.threads(),
                stopped,
                Clock.SYSTEM),
        database::close);
  }

  private static LoadTarget reader(LoadOptions options, boolean approximate) throws IOException {
    AsyncReader reader =
        new AsyncReader(
            options.database().toFile(), approximate, options.indexDirect(), options.dataDirect());
    AsyncTarget lookups =
        new AsyncTarget() {
          @Override
          public <A> void get(
              byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler) {
            reader.asyncGet(key, attachment, handler);
          }
        };
    return new LoadTarget(
        "AsyncReader.asyncGet", reader::engine, workers(lookups, options), reader::close);
  }

  /** Direct reads use the given engine. */
  private static LoadTarget asynchronous(LoadOptions options, Engine direct, String note)
      throws IOException {
    Database database = open(options, direct);
    AsyncTarget lookups =
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
    return new LoadTarget(
        "Database.getAsync",
        () -> database.statistics().engine() + note,
        workers(lookups, options),
        database::close);
  }

  private static Workers workers(AsyncTarget lookups, LoadOptions options) {
    return (keys, order, step, worker, stopped) ->
        new AsyncWorker(
            lookups,
            keys,
            order,
            step.depth(),
            options.rate(),
            worker,
            step.threads(),
            stopped,
            AsyncWorker.PATIENCE_NANOS);
  }

  private static Database open(LoadOptions options, Engine direct) throws IOException {
    Engine named = options.engine();
    OpenOptions open =
        OpenOptions.defaults()
            .withEngine(named == null ? Engine.AUTO : named)
            .withIndexInMemory(options.indexInMemory());
    if (options.indexDirect()) {
      open = open.withIndexEngine(direct);
    }
    return Database.open(
        options.database(), options.dataDirect() ? open.withDataEngine(direct) : open);
  }

  @Override
  public void close() throws IOException {
    opened.close();
  }

  /** Sends the requests of one thread. Not thread-safe. */
  interface Worker {
    /**
     * Sends requests until {@code endNanos} and returns once all are answered.
     *
     * @param beginNanos the start time, on the scale of {@link System#nanoTime}
     * @param endNanos the time after which nothing is sent
     * @param tally counts the answers
     * @throws WrongAnswerException at the first wrong answer, if answers are verified
     * @throws IOException if the load cannot continue; a failed lookup is only counted
     */
    void run(long beginNanos, long endNanos, Tally tally) throws IOException;
  }
}
