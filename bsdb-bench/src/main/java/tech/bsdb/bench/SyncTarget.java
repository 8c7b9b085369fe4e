package tech.bsdb.bench;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What answers a synchronous load: a database, or a test's stand-in. Thread-safe. */
interface SyncTarget {
  /** The value of a key, or null. */
  byte @Nullable [] get(byte[] key) throws IOException;

  /** The values of keys, in their order. */
  List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException;
}
