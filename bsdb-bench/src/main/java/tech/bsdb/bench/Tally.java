package tech.bsdb.bench;

import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What one worker counts. Written by the worker alone; {@link #done} may be read by anybody at any
 * time, the rest once the worker has ended.
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

  /** Latencies in nanoseconds, up to an hour, with three significant digits. */
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
   * @param lookups how many lookups it stands for
   * @param stride one in how many requests was timed
   */
  void timed(long nanos, long lookups, int stride) {
    latency.recordValueWithCount(Math.min(LONGEST_NANOS, Math.max(0, nanos)), lookups);
    timed++;
    largestStride = Math.max(largestStride, stride);
  }

  /** Says how many lookups are done, for whoever watches. */
  void publish(long lookups) {
    done.setRelease(lookups);
  }

  /** Notes how long after its time an open loop sent a request. */
  void sentLate(long nanos) {
    latestNanos = Math.max(latestNanos, nanos);
  }

  /** Notes how many lookups an open loop owed at its end. */
  void notSent(long lookups) {
    notSent = lookups;
  }

  /** Notes when the worker ended. */
  void ended(long nanos) {
    endNanos = nanos;
  }

  long done() {
    return done.getAcquire();
  }

  /** Latencies; each counts for the lookups that it stands for. */
  Histogram latency() {
    return latency;
  }

  long hits() {
    return hits;
  }

  long misses() {
    return misses;
  }

  /** Misses of keys that the source has. */
  long missing() {
    return missing;
  }

  /** Hits of absent keys. */
  long mistaken() {
    return mistaken;
  }

  long errors() {
    return errors;
  }

  @Nullable String firstError() {
    return firstError;
  }

  /** How many latencies were recorded. */
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
