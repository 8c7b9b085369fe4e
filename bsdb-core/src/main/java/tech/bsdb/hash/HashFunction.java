package tech.bsdb.hash;

import java.io.Closeable;
import java.io.IOException;

/** Key to slot, by the key's signature. Thread-safe. */
public interface HashFunction extends Closeable {
  /** What {@link #slot} gives for a key that is certainly absent. */
  long ABSENT = -1;

  /**
   * The slot of a key. Every key of the database has a slot of its own; an absent key has any, or
   * is refused with {@link #ABSENT}.
   *
   * @param high the first half of its signature
   * @param low the second half
   * @throws IOException if the function's bytes are damaged
   */
  long slot(long high, long low) throws IOException;

  /**
   * Asks the memory for what {@link #slot} will need, and does not wait for it.
   *
   * @return a number that means nothing; the caller keeps it, so that the loads are not left out
   */
  long touch(long high);

  @Override
  void close();
}
