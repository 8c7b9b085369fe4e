package tech.bsdb.tools.publish;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The pauses between two looks at a source. They grow with each failure, and vary by a quarter, so
 * that the servers of a fleet do not ask at the same moment.
 *
 * @param usual the pause after a success, and after the first failure
 * @param longest what the pauses after failures grow up to
 */
record Pauses(Duration usual, Duration longest, RandomGenerator random) {
  private static final int MOST_DOUBLINGS = 30;

  /**
   * The next pause.
   *
   * @param failures how many attempts failed in a row
   */
  Duration next(int failures) {
    double seconds = usual.toMillis() / 1e3;
    if (failures > 0) {
      double grown = seconds * (1L << Math.min(failures - 1, MOST_DOUBLINGS));
      seconds = Math.min(grown, longest.toMillis() / 1e3);
    }
    return Duration.ofMillis(Math.round(seconds * 1e3 * (0.75 + random.nextDouble() / 2)));
  }
}
