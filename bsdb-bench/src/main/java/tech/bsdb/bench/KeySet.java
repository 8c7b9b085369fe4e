package tech.bsdb.bench;

import org.jspecify.annotations.Nullable;

/**
 * The keys that are asked for, in memory. Request numbers stand for them: 0 and up for the keys of
 * the source, {@code ~0} and down for absent ones. Immutable by convention; the arrays are not
 * copied.
 *
 * <p>The keys are laid out in memory in the order in which {@link RequestOrder} walks them, so that
 * fetching a key costs the measurement next to nothing.
 *
 * @param present keys of the source, shuffled
 * @param values the value that the source gives each of them, or null where answers are not
 *     verified
 * @param absent keys that the database does not have
 * @param sourceRecords how many records the source has; more than {@code present} where not all are
 *     held
 * @param source where the keys come from, in words
 */
record KeySet(
    byte[][] present,
    byte @Nullable [][] values,
    byte[][] absent,
    long sourceRecords,
    String source) {
  /** The key of a request. */
  byte[] key(int request) {
    return request >= 0 ? present[request] : absent[~request];
  }

  /** These keys with absent ones. */
  KeySet withAbsent(byte[][] absent) {
    return new KeySet(present, values, absent, sourceRecords, source);
  }
}
