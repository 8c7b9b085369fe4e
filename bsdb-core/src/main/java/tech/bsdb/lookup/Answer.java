package tech.bsdb.lookup;

import org.jspecify.annotations.Nullable;

/** Receives the answer to one asynchronous lookup, exactly once. */
public interface Answer {
  /** Receives the value, or null if the key is absent. */
  void completed(byte @Nullable [] value);

  /** Receives the reason why there is no answer. */
  void failed(Throwable why);
}
