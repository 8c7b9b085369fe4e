package tech.bsdb.bench;

import java.nio.channels.CompletionHandler;
import org.jspecify.annotations.Nullable;

/** What answers an asynchronous load: a reader, or a test's stand-in. Thread-safe. */
interface AsyncTarget {
  /** Asks for a key; the handler hears exactly once, in any thread, maybe before this returns. */
  <A> void get(byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler);
}
