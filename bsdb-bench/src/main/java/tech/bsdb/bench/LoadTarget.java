package tech.bsdb.bench;

import java.io.IOException;
import java.util.function.BooleanSupplier;

/** The target of a load, opened according to the options. */
interface LoadTarget extends AutoCloseable {
  /** The name of the measured interface. */
  String api();

  /** The engine in use, and why. */
  String engine();

  /** Creates the worker number {@code worker} of a step. */
  Worker worker(KeySet keys, RequestOrder order, Step step, int worker, BooleanSupplier stopped);

  @Override
  void close() throws IOException;
}
