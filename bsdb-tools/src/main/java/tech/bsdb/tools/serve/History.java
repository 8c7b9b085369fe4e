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
 * The last hour in samples of ten seconds, so that a page that is opened in the middle of an
 * incident shows how it began. 360 samples are kept, less than 100 kB. Thread-safe.
 */
final class History {
  /** Seconds from one sample to the next. */
  static final int INTERVAL_SECONDS = Latencies.WINDOW_SECONDS;

  /** The most samples that are kept. */
  static final int SAMPLES = 3600 / INTERVAL_SECONDS;

  private final Requests requests;
  private final IoTotals io;
  private final Supplier<String> version;
  private final ArrayDeque<Sample> samples = new ArrayDeque<>(SAMPLES + 1);
  private Counts before;
  private int seconds;

  /** What is counted since the start, at one moment. */
  private record Counts(
      long nanos,
      long answered,
      long failed,
      long hits,
      long misses,
      long errors,
      long reads,
      long bytes) {}

  /** Rates a second over the interval that ended at a moment, and its latencies. */
  private record Sample(
      Instant at, String version, double[] rates, long inFlight, long count, double[] latencies) {}

  private static final String[] RATES = {
    "requests", "failures", "hits", "misses", "errors", "reads", "bytes"
  };
  private static final String[] LATENCIES = {
    "p50Seconds", "p90Seconds", "p99Seconds", "p999Seconds", "maxSeconds"
  };

  /**
   * Begins to keep samples.
   *
   * @param version names the version that is served
   */
  History(Requests requests, IoTotals io, Supplier<String> version) {
    this.requests = requests;
    this.io = io;
    this.version = version;
    this.before = counts(System.nanoTime());
  }

  /** Called each second, after the latencies' window has moved on. */
  synchronized void tick() {
    if (seconds++ % INTERVAL_SECONDS == 0) { // the first at once
      sample(Instant.now(), System.nanoTime());
    }
  }

  /** Takes a sample of the time since the last one. */
  synchronized void sample(Instant at, long nanos) {
    Counts now = counts(nanos);
    double passed = Math.max(1, now.nanos - before.nanos) / 1e9;
    double[] rates = {
      (now.answered - before.answered) / passed,
      (now.failed - before.failed) / passed,
      (now.hits - before.hits) / passed,
      (now.misses - before.misses) / passed,
      (now.errors - before.errors) / passed,
      (now.reads - before.reads) / passed,
      (now.bytes - before.bytes) / passed
    };
    before = now;
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
        requests.hits(),
        requests.misses(),
        requests.errors(),
        io.reads(),
        io.bytes());
  }

  /**
   * What {@code /history} says.
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
