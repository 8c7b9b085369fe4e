package tech.bsdb.tools.serve;

import java.util.ArrayDeque;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * How long requests took, since the start and in the last ten seconds, to two decimal digits; and
 * since the start in the buckets that Prometheus reads. Thread-safe.
 */
final class Latencies {
  /** Seconds that {@link #recent} looks back. */
  static final int WINDOW_SECONDS = 10;

  private static final long MOST_NANOS = 3_600_000_000_000L;

  private final Recorder recorder = new Recorder(MOST_NANOS, 2);
  private final io.prometheus.metrics.core.metrics.Histogram sinceStart;
  private final Histogram total = new Histogram(MOST_NANOS, 2);
  private final ArrayDeque<Histogram> seconds = new ArrayDeque<>();

  Latencies(io.prometheus.metrics.core.metrics.Histogram sinceStart) {
    this.sinceStart = sinceStart;
  }

  void record(long nanos) {
    recorder.recordValue(Math.max(0, Math.min(nanos, MOST_NANOS)));
    sinceStart.observe(nanos / 1e9);
  }

  /** Called each second: the window moves on. */
  synchronized void tick() {
    Histogram reused = seconds.size() >= WINDOW_SECONDS ? seconds.poll() : null;
    Histogram second = recorder.getIntervalHistogram(reused);
    seconds.add(second);
    total.add(second);
  }

  /** All requests up to the last whole second. */
  synchronized Histogram total() {
    return total.copy();
  }

  /** The requests of the last ten whole seconds. */
  synchronized Histogram recent() {
    Histogram all = new Histogram(MOST_NANOS, 2);
    seconds.forEach(all::add);
    return all;
  }
}
