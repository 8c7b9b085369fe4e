package tech.bsdb.tools.serve.client;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/**
 * Request durations since the start and in the last ten seconds, to two significant digits; also
 * since the start in Prometheus buckets. Recorded by event loops, read by any thread.
 */
public final class Latencies {
  /** Seconds covered by {@link #recent}. */
  public static final int WINDOW_SECONDS = 10;

  private static final long MAX_NANOS = 3_600_000_000_000L;

  /** Upper bounds of the Prometheus buckets, in seconds; the last bucket has none. */
  private static final double[] BOUNDS = {
    25e-6,
    50e-6,
    100e-6,
    250e-6,
    500e-6,
    1e-3,
    2.5e-3,
    5e-3,
    10e-3,
    25e-3,
    50e-3,
    0.1,
    0.25,
    0.5,
    1,
    2.5,
    5,
    10,
    Double.POSITIVE_INFINITY
  };

  private static final long[] BOUNDS_NANOS =
      Arrays.stream(BOUNDS).mapToLong(seconds -> Math.round(seconds * 1e9)).toArray();

  /** Each power of two of nanoseconds has as many steps, which is a resolution of 0.8 %. */
  private static final int STEP_BITS = 7;

  private static final int STEPS = 1 << STEP_BITS;

  private final LoopCounts byStep = new LoopCounts(step(MAX_NANOS) + 1);
  private final LoopCounts byBound = new LoopCounts(BOUNDS.length + 1);
  private final ArrayDeque<long[]> ticks = new ArrayDeque<>();
  private final long startMillis = System.currentTimeMillis();

  /** Starts with no durations. */
  public Latencies() {
    ticks.add(byStep.sums());
  }

  /** Returns the step of a duration: at first one for each nanosecond, later a wider one. */
  private static int step(long nanos) {
    int widthBits = 63 - STEP_BITS - Long.numberOfLeadingZeros(nanos | (2 * STEPS - 1));
    return (widthBits << STEP_BITS) + (int) (nanos >>> widthBits);
  }

  /** Returns a duration of a step, the shortest. */
  private static long nanos(int step) {
    int widthBits = Math.max(0, (step >>> STEP_BITS) - 1);
    return (step - ((long) widthBits << STEP_BITS)) << widthBits;
  }

  /** Records requests that took as long; called by event loops. */
  public void record(long nanos, int requests) {
    long taken = Math.max(0, Math.min(nanos, MAX_NANOS));
    byStep.add(step(taken), requests);
    int bound = 0;
    while (taken > BOUNDS_NANOS[bound]) {
      bound++;
    }
    byBound.add(bound, requests);
    byBound.add(BOUNDS.length, taken * requests);
  }

  /** Advances the window; called once a second. */
  public synchronized void tick() {
    ticks.add(byStep.sums());
    if (ticks.size() > WINDOW_SECONDS + 1) {
      ticks.remove();
    }
  }

  private static Histogram between(long[] before, long[] now) {
    Histogram durations = new Histogram(MAX_NANOS, 2);
    for (int step = 0; step < now.length; step++) {
      if (now[step] != before[step]) {
        durations.recordValueWithCount(nanos(step), now[step] - before[step]);
      }
    }
    return durations;
  }

  /** Returns the durations of all requests. */
  public Histogram total() {
    return between(new long[step(MAX_NANOS) + 1], byStep.sums());
  }

  /** Returns the durations of the requests in the last ten whole seconds. */
  public synchronized Histogram recent() {
    return between(ticks.getFirst(), ticks.getLast());
  }

  /** Returns the durations of all requests as a metric. */
  public HistogramSnapshot metric() {
    long[] sums = byBound.sums();
    long[] counts = Arrays.copyOf(sums, BOUNDS.length);
    return HistogramSnapshot.builder()
        .name("bsdb_http_request_duration_seconds")
        .help("Time from a request's head until its answer is handed to the socket")
        .unit(Unit.SECONDS)
        .dataPoint(
            HistogramDataPointSnapshot.builder()
                .classicHistogramBuckets(
                    ClassicHistogramBuckets.of(
                        Arrays.stream(BOUNDS).boxed().toList(),
                        Arrays.stream(counts).boxed().toList()))
                .sum(sums[BOUNDS.length] / 1e9)
                .createdTimestampMillis(startMillis)
                .build())
        .build();
  }
}
