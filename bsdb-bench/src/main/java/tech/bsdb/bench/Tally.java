package tech.bsdb.bench;

import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The counts of one worker, written only by it. Any thread may read {@link #done} at any time, and
 * the rest once the worker has ended.
 */
final class Tally {
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  private final Answers answers;
  private final AtomicLong done = new AtomicLong();
  private final Histogram latency = newHistogram();
  private long hits;
  private long misses;
  private long missing;
  private long mistaken;
  private long errors;
  private @Nullable String firstError;
  private long timed;
  private long largestStride = 1;
  private long notSent;
  private long latestNanos;
  private long endNanos;

  Tally(Answers answers) {
    this.answers = answers;
  }

  /** Creates a histogram of nanoseconds up to one hour, with three significant digits. */
  static Histogram newHistogram() {
    return new Histogram(LONGEST_NANOS, 3);
  }

  /**
   * Counts an answer.
   *
   * @throws WrongAnswerException if answers are verified and this one is wrong
   */
  void answered(int request, byte @Nullable [] value) throws WrongAnswerException {
    if (value != null) {
      hits++;
      mistaken += request < 0 ? 1 : 0;
    } else {
      misses++;
      missing += request >= 0 ? 1 : 0;
    }
    answers.check(request, value);
  }

  /** Counts lookups that failed together. */
  void failed(long lookups, Throwable failure) {
    errors += lookups;
    if (firstError == null) {
      firstError = failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }
  }

  /**
   * Records a latency.
   *
   * @param lookups the number of lookups it represents
   * @param stride one in how many requests was timed
   */
  void timed(long nanos, long lookups, int stride) {
    latency.recordValueWithCount(Math.min(LONGEST_NANOS, Math.max(0, nanos)), lookups);
    timed++;
    largestStride = Math.max(largestStride, stride);
  }

  /** Publishes how many lookups are done. */
  void publish(long lookups) {
    done.setRelease(lookups);
  }

  /** Records how long after its due time an open loop sent a request. */
  void sentLate(long nanos) {
    latestNanos = Math.max(latestNanos, nanos);
  }

  /** Records how many due lookups an open loop had not sent at its end. */
  void notSent(long lookups) {
    notSent = lookups;
  }

  /** Records when the worker ended. */
  void ended(long nanos) {
    endNanos = nanos;
  }

  long done() {
    return done.getAcquire();
  }

  /** The latencies, each weighted by the lookups that it represents. */
  Histogram latency() {
    return latency;
  }

  long hits() {
    return hits;
  }

  long misses() {
    return misses;
  }

  /** The number of misses of keys in the source. */
  long missing() {
    return missing;
  }

  /** The number of hits of absent keys. */
  long mistaken() {
    return mistaken;
  }

  long errors() {
    return errors;
  }

  @Nullable String firstError() {
    return firstError;
  }

  /** The number of latencies recorded. */
  long timed() {
    return timed;
  }

  long largestStride() {
    return largestStride;
  }

  long notSent() {
    return notSent;
  }

  long latestNanos() {
    return latestNanos;
  }

  long endNanos() {
    return endNanos;
  }
}
