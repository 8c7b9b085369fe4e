package tech.bsdb.bench;

import java.io.IOException;

/** Sends the requests of one thread. Not thread-safe. */
interface Worker {
  /**
   * Sends requests until {@code endNanos} and returns once all are answered.
   *
   * @param beginNanos the start time, on the scale of {@link System#nanoTime}
   * @param endNanos the time after which nothing is sent
   * @param tally counts the answers
   * @throws WrongAnswerException at the first wrong answer, if answers are verified
   * @throws IOException if the load cannot continue; a failed lookup is only counted
   */
  void run(long beginNanos, long endNanos, Tally tally) throws IOException;
}
