package tech.bsdb.bench;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers synchronous lookups: a database, or a test's stand-in. Thread-safe. */
interface SyncTarget {
  /** Returns the value of a key, or null. */
  byte @Nullable [] get(byte[] key) throws IOException;

  /** Returns the values of keys, in the same order. */
  List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException;
}
