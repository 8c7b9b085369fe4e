package tech.bsdb.bench;

import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.read.AsyncReader;

/** Measures the documented asynchronous reader, {@code AsyncReader}. */
final class AsyncReaderTarget implements LoadTarget {
  private final AsyncReader reader;
  private final double rate;

  /**
   * Opens the database of the options.
   *
   * @param approximate whether the database is approximate
   */
  AsyncReaderTarget(LoadOptions options, boolean approximate) throws IOException {
    this.reader =
        new AsyncReader(
            options.database().toFile(), approximate, options.indexDirect(), options.dataDirect());
    this.rate = options.rate();
  }

  @Override
  public String api() {
    return "AsyncReader.asyncGet";
  }

  @Override
  public String engine() {
    return reader.engine();
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
          reader.asyncGet(key, attachment, handler);
        }
      };

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
