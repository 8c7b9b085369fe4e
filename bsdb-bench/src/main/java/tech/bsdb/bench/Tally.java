package tech.bsdb.bench;

import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tech.bsdb.bench.Answers.WrongAnswerException;

/**
 * The counts of one worker, written only by it. Any thread may read {@link #done} at any time, and
 * the rest once the worker has ended.
 */
final class Tally {
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  private final Answers answers;
  private final AtomicLong done = new AtomicLong();

  /** Latencies in nanoseconds, each weighted by the lookups that it represents. */
  final Histogram latency = new Histogram(LONGEST_NANOS, 3);

  long hits;
  long misses;

  /** Misses of keys in the source. */
  long missing;

  /** Hits of absent keys. */
  long mistaken;

  /** Lookups that failed, and why one of them did. */
  long errors;

  @Nullable String firstError;

  /** The number of latencies taken; one in at most {@link #largestStride} requests was timed. */
  long timed;

  long largestStride = 1;

  /** Lookups due but not sent by the end of an open loop. */
  long notSent;

  /** The longest delay of an open loop in sending a request after it was due. */
  long latestNanos;

  /** When the worker ended. */
  long endNanos;

  Tally(Answers answers) {
    this.answers = answers;
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

  long done() {
    return done.getAcquire();
  }

  /** Adds the counts of another worker, which has ended. */
  void add(Tally other) {
    latency.add(other.latency);
    hits += other.hits;
    misses += other.misses;
    missing += other.missing;
    mistaken += other.mistaken;
    errors += other.errors;
    firstError = firstError == null ? other.firstError : firstError;
    timed += other.timed;
    largestStride = Math.max(largestStride, other.largestStride);
    notSent += other.notSent;
    latestNanos = Math.max(latestNanos, other.latestNanos);
    endNanos = Math.max(endNanos, other.endNanos);
  }
}
