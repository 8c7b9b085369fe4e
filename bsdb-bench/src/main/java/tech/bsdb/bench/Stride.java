package tech.bsdb.bench;

/**
 * The sampling interval of latencies, in lookups. Reading the clock twice takes about 50 ns, a warm
 * lookup about 400 ns. Above 500,000 lookups per second and thread, only one of several is timed,
 * so that the clock takes less than 1 % of the time; a timed lookup counts for all that it
 * represents. Adapts to the rate every 20 ms. Not thread-safe.
 */
final class Stride {
  /** The rate in lookups per second and thread up to which every lookup is timed. */
  static final double EVERY_ONE_BELOW = 500_000;

  private static final double TIMED_PER_SECOND = 100_000;
  private static final long LOOK_NANOS = 20_000_000;
  private static final int MOST = 1_024;

  private int stride = 1;
  private long lookedAtNanos;
  private long lookedAtDone;

  /** Restarts at the given time and keeps the stride. */
  void begin(long nowNanos) {
    lookedAtNanos = nowNanos;
    lookedAtDone = 0;
  }

  /** Returns the stride: one in this many lookups is timed. */
  int get() {
    return stride;
  }

  /**
   * Adapts to the rate.
   *
   * @param done requests since {@link #begin}
   */
  void adapt(long nowNanos, long done) {
    long passed = nowNanos - lookedAtNanos;
    if (passed < LOOK_NANOS) {
      return;
    }
    double rate = (done - lookedAtDone) * 1e9 / passed;
    stride =
        rate <= EVERY_ONE_BELOW
            ? 1
            : Integer.highestOneBit((int) Math.min(MOST, 2 * rate / TIMED_PER_SECOND - 1));
    lookedAtNanos = nowNanos;
    lookedAtDone = done;
  }
}
