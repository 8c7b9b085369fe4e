package tech.bsdb.lookup;

import org.jspecify.annotations.Nullable;

/** Receives the answer to one asynchronous lookup, exactly once. */
@FunctionalInterface
public interface Answer {
  /**
   * Receives the answer.
   *
   * @param value the value, or null if the key is absent or the lookup failed
   * @param failure why there is no answer, or null
   */
  void accept(byte @Nullable [] value, @Nullable Throwable failure);
}
