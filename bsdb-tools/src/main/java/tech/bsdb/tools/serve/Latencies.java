package tech.bsdb.tools.serve;

import java.util.ArrayDeque;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Request durations since the start and in the last ten seconds, to two significant digits; also
 * since the start in Prometheus buckets. Thread-safe.
 */
final class Latencies {
  /** Seconds covered by {@link #recent}. */
  static final int WINDOW_SECONDS = 10;

  private static final long MAX_NANOS = 3_600_000_000_000L;

  private final Recorder recorder = new Recorder(MAX_NANOS, 2);
  private final io.prometheus.metrics.core.metrics.Histogram sinceStart;
  private final Histogram total = new Histogram(MAX_NANOS, 2);
  private final ArrayDeque<Histogram> seconds = new ArrayDeque<>();

  Latencies(io.prometheus.metrics.core.metrics.Histogram sinceStart) {
    this.sinceStart = sinceStart;
  }

  void record(long nanos) {
    recorder.recordValue(Math.max(0, Math.min(nanos, MAX_NANOS)));
    sinceStart.observe(nanos / 1e9);
  }

  /** Advances the window; called once a second. */
  synchronized void tick() {
    Histogram reused = seconds.size() >= WINDOW_SECONDS ? seconds.poll() : null;
    Histogram second = recorder.getIntervalHistogram(reused);
    seconds.add(second);
    total.add(second);
  }

  /** Returns the durations of all requests up to the last whole second. */
  synchronized Histogram total() {
    return total.copy();
  }

  /** Returns the durations of the requests in the last ten whole seconds. */
  synchronized Histogram recent() {
    Histogram all = new Histogram(MAX_NANOS, 2);
    seconds.forEach(all::add);
    return all;
  }
}
