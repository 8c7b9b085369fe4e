package tech.bsdb.bench;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of one step of a run.
 *
 * @param step threads and depth
 * @param seconds time from the start to the last answer
 * @param lookups lookups answered or failed
 * @param hits lookups that returned a value
 * @param misses lookups that returned none
 * @param missing misses of keys in the source
 * @param mistaken hits of absent keys
 * @param errors lookups that failed
 * @param firstError why one of them failed, or null
 * @param latency latencies in nanoseconds, measured from sending or, in an open loop, from the due
 *     time
 * @param timed the number of latencies taken, each weighted by the lookups that it represents
 * @param stride one in at most this many requests was timed
 * @param notSent lookups due but not sent by the end of an open loop
 * @param latestNanos the longest delay of an open loop in sending a request after it was due
 * @param cpuSeconds CPU time of the process, NaN where unknown
 * @param deviceBytes bytes read from the device by the process, NaN where unknown
 */
record Point(
    Step step,
    double seconds,
    long lookups,
    long hits,
    long misses,
    long missing,
    long mistaken,
    long errors,
    @Nullable String firstError,
    Histogram latency,
    long timed,
    long stride,
    long notSent,
    long latestNanos,
    double cpuSeconds,
    double deviceBytes) {

  static Point of(Step step, double seconds, List<Tally> tallies, double cpu, double deviceBytes) {
    Histogram latency = Tally.newHistogram();
    long hits = 0;
    long misses = 0;
    long missing = 0;
    long mistaken = 0;
    long errors = 0;
    String firstError = null;
    long timed = 0;
    long stride = 1;
    long notSent = 0;
    long latest = 0;
    for (Tally tally : tallies) {
      latency.add(tally.latency());
      hits += tally.hits();
      misses += tally.misses();
      missing += tally.missing();
      mistaken += tally.mistaken();
      errors += tally.errors();
      firstError = firstError == null ? tally.firstError() : firstError;
      timed += tally.timed();
      stride = Math.max(stride, tally.largestStride());
      notSent += tally.notSent();
      latest = Math.max(latest, tally.latestNanos());
    }
    return new Point(
        step,
        seconds,
        hits + misses + errors,
        hits,
        misses,
        missing,
        mistaken,
        errors,
        firstError,
        latency,
        timed,
        stride,
        notSent,
        latest,
        cpu,
        deviceBytes);
  }

  double lookupsPerSecond() {
    return seconds > 0 ? lookups / seconds : 0;
  }

  /** Returns a latency in nanoseconds; {@code percentile} is 0 to 100. */
  long nanosAt(double percentile) {
    return latency.getValueAtPercentile(percentile);
  }

  double cpuSecondsPerMillion() {
    return lookups == 0 ? Double.NaN : cpuSeconds * 1e6 / lookups;
  }

  double deviceBytesPerLookup() {
    return lookups == 0 ? Double.NaN : deviceBytes / lookups;
  }
}
