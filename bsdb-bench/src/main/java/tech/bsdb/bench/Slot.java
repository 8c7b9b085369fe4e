package tech.bsdb.bench;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One request in flight. Its worker fills it; the completing thread adds the answer and returns it
 * through {@link Completions}. Owned by one of them at a time.
 */
final class Slot {
  /** Whether an answer is awaited. */
  final AtomicBoolean pending = new AtomicBoolean();

  /** The request's number in the {@link KeySet}. */
  int request;

  /** When it was sent or due; 0 if it is not timed. */
  long beganNanos;

  /** When it was answered, if it is timed. */
  long endedNanos;

  /** One in how many requests is timed. */
  int stride;

  /** The answer; null for an absent key or a failure. */
  byte @Nullable [] value;

  /** Why it failed, if it did. */
  @Nullable Throwable failure;
}
