package tech.bsdb.bench;

import tech.bsdb.bench.LoadOptions.Step;

/**
 * The measurements of one step of a run.
 *
 * @param step threads and depth
 * @param seconds time from the start to the last answer
 * @param sum the counts of all workers
 * @param cpuSeconds CPU time of the process, NaN where unknown
 * @param deviceBytes bytes read from the device by the process, NaN where unknown
 */
record Point(Step step, double seconds, Tally sum, double cpuSeconds, double deviceBytes) {
  /** Lookups answered or failed. */
  long lookups() {
    return sum.hits + sum.misses + sum.errors;
  }

  double lookupsPerSecond() {
    return seconds > 0 ? lookups() / seconds : 0;
  }

  /** Returns a latency in nanoseconds; {@code percentile} is 0 to 100. */
  long nanosAt(double percentile) {
    return sum.latency.getValueAtPercentile(percentile);
  }

  double cpuSecondsPerMillion() {
    return lookups() == 0 ? Double.NaN : cpuSeconds * 1e6 / lookups();
  }

  double deviceBytesPerLookup() {
    return lookups() == 0 ? Double.NaN : deviceBytes / lookups();
  }
}
