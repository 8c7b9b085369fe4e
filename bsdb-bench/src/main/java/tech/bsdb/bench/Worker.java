package tech.bsdb.bench;

import java.io.IOException;

/** Sends requests, one thread's worth. For one thread. */
interface Worker {
  /**
   * Sends requests for a time, and returns once all of them are answered.
   *
   * @param beginNanos when it began, of {@link System#nanoTime}
   * @param endNanos from when on nothing more is sent
   * @param tally counts what comes back
   * @throws WrongAnswerException at the first wrong answer, where answers are verified
   * @throws IOException if the load cannot go on; a lookup that fails is only counted
   */
  void run(long beginNanos, long endNanos, Tally tally) throws IOException;
}
