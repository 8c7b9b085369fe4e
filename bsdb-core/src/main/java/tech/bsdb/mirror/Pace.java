package tech.bsdb.mirror;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * When a failed request is repeated, and when one counts as failed.
 *
 * @param first the longest pause before the second attempt; it doubles with each attempt
 * @param longest what the pause grows to at most
 * @param patience how long a request may take, besides the time for its bytes
 * @param random gives the share of the pause that is waited, from 0 to 1
 */
record Pace(Duration first, Duration longest, Duration patience, DoubleSupplier random) {
  /** The least rate at which a long range must arrive. */
  private static final long BYTES_PER_SECOND = 256 << 10;

  static Pace usual() {
    return new Pace(
        Duration.ofMillis(50),
        Duration.ofSeconds(2),
        Duration.ofSeconds(10),
        () -> ThreadLocalRandom.current().nextDouble());
  }

  /** The pause after an attempt that failed, in nanoseconds; attempts count from 1. */
  long pauseNanos(int attempt) {
    long most = Math.min(longest.toNanos(), first.toNanos() << Math.min(20, attempt - 1));
    return (long) (most * random.getAsDouble());
  }

  /** How long a request for so many bytes may take, in nanoseconds. */
  long patienceNanos(int bytes) {
    return patience.toNanos() + bytes * 1_000_000_000L / BYTES_PER_SECOND;
  }
}
