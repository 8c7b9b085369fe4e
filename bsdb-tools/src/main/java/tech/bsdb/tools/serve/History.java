package tech.bsdb.tools.serve;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last hour in ten-second samples, so that a page opened in the middle of an incident
 * shows how it began: 360 samples, less than 100 kB. Thread-safe.
 */
final class History {
  /** Seconds between samples. */
  static final int INTERVAL_SECONDS = Latencies.WINDOW_SECONDS;

  /** The maximum number of samples kept. */
  static final int SAMPLES = 3600 / INTERVAL_SECONDS;

  private final Requests requests;
  private final IoTotals io;
  private final Supplier<String> version;
  private final ArrayDeque<Sample> samples = new ArrayDeque<>(SAMPLES + 1);
  private Counts previous;
  private int seconds;

  /** The counters since the start, at one moment. */
  private record Counts(
      long nanos,
      long answered,
      long failed,
      long hits,
      long misses,
      long errors,
      long reads,
      long bytes) {}

  /** Rates per second over the interval that ended at a moment, and its latencies. */
  private record Sample(
      Instant at, String version, double[] rates, long inFlight, long count, double[] latencies) {}

  private static final String[] RATES = {
    "requests", "failures", "hits", "misses", "errors", "reads", "bytes"
  };
  private static final String[] LATENCIES = {
    "p50Seconds", "p90Seconds", "p99Seconds", "p999Seconds", "maxSeconds"
  };

  /**
   * Starts with no samples.
   *
   * @param version names the version being served
   */
  History(Requests requests, IoTotals io, Supplier<String> version) {
    this.requests = requests;
    this.io = io;
    this.version = version;
    this.previous = counts(System.nanoTime());
  }

  /** Called once a second, after the latency window has advanced. */
  synchronized void tick() {
    if (seconds++ % INTERVAL_SECONDS == 0) { // the first immediately
      sample(Instant.now(), System.nanoTime());
    }
  }

  /** Takes a sample of the time since the previous one. */
  synchronized void sample(Instant at, long nanos) {
    Counts now = counts(nanos);
    double passed = Math.max(1, now.nanos - previous.nanos) / 1e9;
    double[] rates = {
      (now.answered - previous.answered) / passed,
      (now.failed - previous.failed) / passed,
      (now.hits - previous.hits) / passed,
      (now.misses - previous.misses) / passed,
      (now.errors - previous.errors) / passed,
      (now.reads - previous.reads) / passed,
      (now.bytes - previous.bytes) / passed
    };
    previous = now;
    Histogram recent = requests.latencies().recent();
    double[] latencies = {
      recent.getValueAtPercentile(50) / 1e9,
      recent.getValueAtPercentile(90) / 1e9,
      recent.getValueAtPercentile(99) / 1e9,
      recent.getValueAtPercentile(99.9) / 1e9,
      recent.getMaxValue() / 1e9
    };
    samples.add(
        new Sample(
            at.truncatedTo(ChronoUnit.MILLIS),
            version.get(),
            rates,
            requests.inFlight(),
            recent.getTotalCount(),
            latencies));
    if (samples.size() > SAMPLES) {
      samples.remove();
    }
  }

  private Counts counts(long nanos) {
    long answered = 0;
    long failed = 0;
    for (Map.Entry<Integer, Long> entry : requests.byStatus().entrySet()) {
      answered += entry.getValue();
      failed += entry.getKey() >= 500 ? entry.getValue() : 0;
    }
    return new Counts(
        nanos,
        answered,
        failed,
        requests.lookups().hits(),
        requests.lookups().misses(),
        requests.lookups().errors(),
        io.reads(),
        io.bytes());
  }

  /**
   * Returns the content of {@code /history}.
   *
   * @param since only samples after this moment; null for all
   */
  synchronized Map<String, @Nullable Object> after(@Nullable Instant since) {
    List<Map<String, @Nullable Object>> list = new ArrayList<>();
    for (Sample sample : samples) {
      if (since == null || sample.at.isAfter(since)) {
        list.add(report(sample));
      }
    }
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("intervalSeconds", INTERVAL_SECONDS);
    all.put("samples", list);
    return all;
  }

  private static Map<String, @Nullable Object> report(Sample sample) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("at", sample.at.toString());
    map.put("version", sample.version);
    for (int i = 0; i < RATES.length; i++) {
      map.put(RATES[i], Math.max(0, Math.rint(sample.rates[i] * 10) / 10));
    }
    map.put("inFlight", sample.inFlight);
    map.put("count", sample.count);
    for (int i = 0; i < LATENCIES.length; i++) {
      map.put(LATENCIES[i], sample.latencies[i]);
    }
    return map;
  }
}
