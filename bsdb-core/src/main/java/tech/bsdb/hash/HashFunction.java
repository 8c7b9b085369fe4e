package tech.bsdb.hash;

import java.io.Closeable;
import java.io.IOException;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;

/** Maps a key's signature to its slot. Thread-safe. */
public interface HashFunction extends Closeable {
  /** Returned by {@link #slot} for a key that is certainly absent. */
  long ABSENT = -1;

  /**
   * Returns the slot of a key. Every key of the database has a unique slot, below the number of
   * keys; an absent key yields an arbitrary slot or {@link #ABSENT}.
   *
   * @param high the first half of the key's signature
   * @param low the second half
   * @throws IOException if the function's bytes are damaged
   */
  long slot(long high, long low) throws IOException;

  /*
   * For many keys at once, so that cache misses overlap: each step finds in the cache what the one before it touched.
   */

  /**
   * Touches what {@link #candidates} reads for some signatures.
   *
   * @param scratch memory for as many numbers as there are signatures
   */
  void touch(long[] highs, long[] scratch, int from, int to);

  /**
   * Finds the slots that keys have if they are present, or {@link #ABSENT}, and touches what {@link
   * #confirm} reads.
   *
   * @param scratch memory for as many numbers as there are signatures
   * @throws IOException if the function's bytes are damaged
   */
  void candidates(long[] highs, long[] lows, long[] slots, long[] scratch, int from, int to)
      throws IOException;

  /**
   * Replaces the candidates of keys whose checksum bits say that they are absent by {@link
   * #ABSENT}.
   *
   * @throws IOException if the function's bytes are damaged
   */
  void confirm(long[] highs, long[] lows, long[] slots, int from, int to) throws IOException;

  /** The identity of the function's file in its database. */
  static FileIdentity identity() {
    return new FileIdentity(FileKind.HASH, 0);
  }

  @Override
  void close();
}
