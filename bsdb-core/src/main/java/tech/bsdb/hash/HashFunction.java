package tech.bsdb.hash;

import java.io.Closeable;
import java.io.IOException;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/** Maps a key's signature to its slot. Thread-safe. */
public interface HashFunction extends Closeable {
  /** Returned by {@link #slot} for a key that is certainly absent. */
  long ABSENT = -1;

  /**
   * Returns the slot of a key. Every key of the database has a unique slot; an absent key yields an
   * arbitrary slot or {@link #ABSENT}.
   *
   * @param high the first half of the key's signature
   * @param low the second half
   * @throws IOException if the function's bytes are damaged
   */
  default long slot(long high, long low) throws IOException {
    long candidate = candidate(high, low);
    return candidate != ABSENT && confirms(candidate, high, low) ? candidate : ABSENT;
  }

  /**
   * Returns the slot that a key has if it is present, or {@link #ABSENT}. The slot is below the
   * number of keys.
   *
   * @throws IOException if the function's bytes are damaged
   */
  long candidate(long high, long low) throws IOException;

  /**
   * Whether the checksum bits of a key's {@link #candidate} slot are those of the key.
   *
   * @throws IOException if the function's bytes are damaged
   */
  boolean confirms(long candidate, long high, long low) throws IOException;

  /** The function's file in memory. */
  ShownFile shown();

  /**
   * Collects what {@link #candidate} will read.
   *
   * @param file the number of the function's file in {@code touches}
   */
  void aim(long high, Touches touches, int file);

  /** Collects what {@link #confirms} will read; see {@link #aim}. */
  void aimCandidate(long candidate, long high, Touches touches, int file);

  /** The identity of the function's file in its database. */
  static FileIdentity identity() {
    return new FileIdentity(FileKind.HASH, 0);
  }

  @Override
  void close();
}
