package tech.bsdb.bench;

import java.nio.channels.CompletionHandler;
import org.jspecify.annotations.Nullable;

/** Answers asynchronous lookups: a reader, or a test's stand-in. Thread-safe. */
interface AsyncTarget {
  /**
   * Looks up a key; calls the handler exactly once, on any thread, possibly before this returns.
   */
  <A> void get(byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler);
}
