package tech.bsdb.bench;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What one step of a run measured.
 *
 * @param step threads and depth
 * @param seconds from the beginning until the last lookup was answered
 * @param lookups lookups answered or failed
 * @param hits lookups that got a value
 * @param misses lookups that got none
 * @param missing misses of keys that the source has
 * @param mistaken hits of absent keys
 * @param errors lookups that failed
 * @param firstError why one of them failed, or null
 * @param latency latencies in nanoseconds, from sending, in an open loop from the time that was due
 * @param timed how many latencies were taken; each counts for the lookups that it stands for
 * @param stride one in how many requests was timed, where it was fewest
 * @param notSent lookups that an open loop owed at its end
 * @param latestNanos how long after its time an open loop sent its latest request
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

  /** A latency in nanoseconds; {@code percentile} is 0 to 100. */
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
