package tech.bsdb.bench;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One request in flight. Its worker fills it, whoever completes it adds the answer and hands it
 * back through {@link Completions}; only one of them has it at a time.
 */
final class Slot {
  /** Whether an answer is awaited. */
  final AtomicBoolean pending = new AtomicBoolean();

  /** The request's number in the {@link KeySet}. */
  int request;

  /** When it was sent, or was due; 0 where it is not timed. */
  long beganNanos;

  /** When it was answered, where it is timed. */
  long endedNanos;

  /** One in how many requests is timed. */
  int stride;

  /** The answer; null for an absent key, or where it failed. */
  byte @Nullable [] value;

  /** Why it failed, if it did. */
  @Nullable Throwable failure;
}
