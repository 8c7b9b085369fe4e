package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.serve.client.Latencies;
import tech.bsdb.tools.serve.dataset.DataSets;

/**
 * Keeps the last hour in ten-second samples, so that a page opened in the middle of an incident
 * shows how it began: 360 samples as JSON, about 120 kB. Thread-safe.
 */
final class History {
  /** Seconds between samples. */
  static final int INTERVAL_SECONDS = Latencies.WINDOW_SECONDS;

  /** The maximum number of samples kept. */
  static final int SAMPLES = 3600 / INTERVAL_SECONDS;

  private final Requests requests;
  private final DataSets sets;
  private final Supplier<String> version;
  private final ArrayDeque<Sample> samples = new ArrayDeque<>(SAMPLES + 1);
  private Map<String, Long> previous;
  private long previousNanos;
  private int seconds;

  /** The interval that ended at a moment. */
  private record Sample(Instant at, Object json) {}

  /**
   * Starts with no samples.
   *
   * @param version names the version being served
   */
  History(Requests requests, DataSets sets, Supplier<String> version) {
    this.requests = requests;
    this.sets = sets;
    this.version = version;
    this.previous = counts();
    this.previousNanos = System.nanoTime();
  }

  /** Called once a second, after the latency window has advanced. */
  synchronized void tick() {
    if (seconds++ % INTERVAL_SECONDS == 0) { // the first immediately
      sample(Instant.now(), System.nanoTime());
    }
  }

  /** Takes a sample of the time since the previous one. */
  synchronized void sample(Instant at, long nanos) {
    Map<String, Long> before = previous;
    double passed = Math.max(1, nanos - previousNanos) / 1e9;
    previous = counts();
    previousNanos = nanos;
    Instant moment = at.truncatedTo(ChronoUnit.MILLIS);
    Map<String, @Nullable Object> sample = new LinkedHashMap<>();
    sample.put("at", moment.toString());
    sample.put("version", version.get());
    previous.forEach(
        (name, count) -> {
          double rate = (count - before.getOrDefault(name, 0L)) / passed;
          sample.put(name, Math.max(0, Math.rint(rate * 10) / 10));
        });
    sample.put("inFlight", requests.inFlight());
    sample.putAll(ServerStatistics.latency(requests.latencies().recent()));
    samples.add(
        new Sample(moment, JsonReport.text(new String(Pages.json(200, sample).body(), UTF_8))));
    if (samples.size() > SAMPLES) {
      samples.remove();
    }
  }

  /** Returns the counts since the start that are shown as rates. */
  private Map<String, Long> counts() {
    long answered = 0;
    long failed = 0;
    for (Map.Entry<Integer, Long> entry : requests.byStatus().entrySet()) {
      answered += entry.getValue();
      failed += entry.getKey() >= 500 ? entry.getValue() : 0;
    }
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("requests", answered);
    counts.put("failures", failed);
    counts.putAll(requests.lookups().byOutcome());
    counts.putAll(ServerStatistics.io(sets.ioCounters()));
    return counts;
  }

  /**
   * Returns the content of {@code /history}.
   *
   * @param since only samples after this moment; null for all
   */
  synchronized Map<String, @Nullable Object> after(@Nullable Instant since) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("intervalSeconds", INTERVAL_SECONDS);
    all.put(
        "samples",
        samples.stream()
            .filter(sample -> since == null || sample.at.isAfter(since))
            .map(Sample::json)
            .toList());
    return all;
  }
}
