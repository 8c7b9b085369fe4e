package tech.bsdb.bench;

import java.io.IOException;
import java.util.function.BooleanSupplier;

/** What a load is put on, opened as the options say. */
interface LoadTarget extends AutoCloseable {
  /** The interface that is measured, in words. */
  String api();

  /** The engine in use, and why. */
  String engine();

  /** Makes a worker, of those of a step the {@code worker}-th. */
  Worker worker(KeySet keys, RequestOrder order, Step step, int worker, BooleanSupplier stopped);

  @Override
  void close() throws IOException;
}
