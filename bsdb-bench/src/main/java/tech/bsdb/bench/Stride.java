package tech.bsdb.bench;

/**
 * How many lookups go by for each that is timed. Reading the clock twice takes some 50 ns, a warm
 * lookup some 400: at over 500,000 lookups a second and thread only one of several is timed, so
 * that the clock takes less than 1 % of the time. A timed lookup counts for all that it stands for.
 * Follows the rate, looked at every 20 ms. For one thread.
 */
final class Stride {
  /** Lookups a second and thread up to which every one is timed. */
  static final double EVERY_ONE_BELOW = 500_000;

  private static final double TIMED_PER_SECOND = 100_000;
  private static final long LOOK_NANOS = 20_000_000;
  private static final int MOST = 1_024;

  private int stride = 1;
  private long lookedAtNanos;
  private long lookedAtDone;

  /** Begins again at a time; the stride stays what it was. */
  void begin(long nowNanos) {
    lookedAtNanos = nowNanos;
    lookedAtDone = 0;
  }

  /** One in how many is timed. */
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
