package tech.bsdb;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the differing records of two databases, and the progress of the comparison. All calls
 * are made by the thread that compares.
 */
public interface DiffListener {
  /** Ignores everything. */
  DiffListener NONE = new DiffListener() {};

  /** How a record differs. */
  enum Difference {
    /** Only the second database has the key. */
    ADDED,
    /** Only the first database has the key. */
    REMOVED,
    /** Both databases have the key, with different values. */
    CHANGED
  }

  /**
   * Receives a differing record, in an order that depends on the records of the databases only. Not
   * called if {@link DiffOptions#detail} is {@link DiffOptions.Detail#COUNTS}. The arrays belong to
   * the receiver.
   *
   * @param before the value in the first database; null if the key was added, and without {@link
   *     DiffOptions.Detail#VALUES}
   * @param after the value in the second database; null if the key was removed, and without {@link
   *     DiffOptions.Detail#VALUES}
   * @return whether to receive more of them; if not, the others are only counted
   * @throws IOException if the receiver fails; it ends the comparison and reaches its caller
   *     unchanged
   */
  default boolean differs(
      Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after)
      throws IOException {
    return true;
  }

  /** Reports how many records of both databases are done so far, and how many they have. */
  default void progress(long doneRecords, long totalRecords) {}
}
