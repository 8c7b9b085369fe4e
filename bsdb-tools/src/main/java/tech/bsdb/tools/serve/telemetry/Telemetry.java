package tech.bsdb.tools.serve.telemetry;

import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What a server tells of itself while it runs, besides its own pages. Thread-safe. */
public interface Telemetry extends AutoCloseable {
  /** Tells nothing. */
  Telemetry NONE =
      new Telemetry() {
        @Override
        public boolean isOn() {
          return false;
        }

        @Override
        public RequestSpan began(RequestHead head) {
          return RequestSpan.NONE;
        }

        @Override
        public void opened(String dataset, String version, Duration took) {}

        @Override
        public void refused(String dataset, String version) {}

        @Override
        public void export(Supplier<MetricSnapshots> metrics) {}

        @Override
        public void close() {}
      };

  /**
   * Returns OpenTelemetry if it is on the class path and somebody has set it up: the Java agent, or
   * the autoconfiguration of the SDK, which reads the environment. Otherwise {@link #NONE}, and
   * then no class of it is loaded.
   *
   * @param say takes what an operator should know
   * @throws IOException if it is set up wrongly
   */
  static Telemetry ofClassPath(Consumer<String> say) throws IOException {
    boolean sdk = isThere("io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk");
    if (!sdk && !isThere("io.opentelemetry.api.OpenTelemetry")) {
      return NONE;
    }
    try {
      return OpenTelemetryRecorder.ofClassPath(sdk, say);
    } catch (RuntimeException | LinkageError e) {
      Throwable cause = e;
      for (Throwable next = e; next != null; next = next.getCause()) {
        cause = next;
      }
      throw new IOException(
          "OpenTelemetry cannot be set up; check the variables OTEL_*, and that BSDB_CLASSPATH has"
              + " all jars of one release: "
              + e
              + (cause == e ? "" : ": " + cause),
          e);
    }
  }

  private static boolean isThere(String name) {
    try {
      Class<?> unused = Class.forName(name, false, Telemetry.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Whether anything is told. */
  boolean isOn();

  /** Called when a request's head has been read and its route is known. */
  RequestSpan began(RequestHead head);

  /** Called when a version of a data set is served, the opening of which took as long. */
  void opened(String dataset, String version, Duration took);

  /** Called when a version of a data set was refused; it is empty if unknown. */
  void refused(String dataset, String version);

  /** Exports metrics until this is closed, whose names, types and labels stay the same. */
  void export(Supplier<MetricSnapshots> metrics);

  /** Sends what has not been sent. */
  @Override
  void close();
}
