package tech.bsdb.tools.serve.client;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;

/**
 * Request durations since the start and in the last ten seconds, to two significant digits; also
 * since the start in Prometheus buckets. Recorded by event loops, read by any thread.
 */
public final class Latencies {
  /** Seconds covered by {@link #recent}. */
  public static final int WINDOW_SECONDS = 10;

  private static final long MAX_NANOS = 3_600_000_000_000L;

  /** Upper bounds of the Prometheus buckets: 25, 50 and 100 microseconds, and so on to 10 s. */
  private static final long[] BOUNDS_NANOS =
      LongStream.iterate(25_000, unit -> unit < MAX_NANOS / 1000, unit -> 10 * unit)
          .flatMap(unit -> LongStream.of(unit, 2 * unit, 4 * unit))
          .toArray();

  /** Each power of two of nanoseconds has as many steps, which is a resolution of 0.8 %. */
  private static final int STEP_BITS = 7;

  private static final int STEPS = 1 << STEP_BITS;

  private final LoopCounts byStep = new LoopCounts(step(MAX_NANOS) + 1);
  private final LoopCounts byBound = new LoopCounts(BOUNDS_NANOS.length + 2);
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
    while (bound < BOUNDS_NANOS.length && taken > BOUNDS_NANOS[bound]) {
      bound++;
    }
    byBound.add(bound, requests);
    byBound.add(BOUNDS_NANOS.length + 1, taken * requests);
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
    int last = sums.length - 1;
    DoubleStream bounds = Arrays.stream(BOUNDS_NANOS).mapToDouble(nanos -> nanos / 1e9);
    DoubleStream all = DoubleStream.concat(bounds, DoubleStream.of(Double.POSITIVE_INFINITY));
    return HistogramSnapshot.builder()
        .name("bsdb_http_request_duration_seconds")
        .help("Time from a request's head until its answer is handed to the socket")
        .unit(Unit.SECONDS)
        .dataPoint(
            HistogramDataPointSnapshot.builder()
                .classicHistogramBuckets(
                    ClassicHistogramBuckets.of(
                        all.boxed().toList(), Arrays.stream(sums, 0, last).boxed().toList()))
                .sum(sums[last] / 1e9)
                .createdTimestampMillis(startMillis)
                .build())
        .build();
  }
}
