package tech.bsdb.bench;

import org.jspecify.annotations.Nullable;

/**
 * The keys to look up, in memory. Request numbers identify them: 0 and up for the source's keys,
 * {@code ~0} and down for absent ones. Immutable by convention; the arrays are not copied.
 *
 * <p>The keys lie in memory in the order in which {@link RequestOrder} visits them, so that
 * fetching a key adds almost nothing to the measurement.
 *
 * @param present keys of the source, shuffled
 * @param values the source's value for each of them, or null if answers are not verified
 * @param absent keys that the database lacks
 * @param sourceRecords the number of records in the source; more than {@code present} if only a
 *     sample is held
 * @param source a description of where the keys come from
 */
record KeySet(
    byte[][] present,
    byte @Nullable [][] values,
    byte[][] absent,
    long sourceRecords,
    String source) {
  /** Returns the key of a request. */
  byte[] key(int request) {
    return request >= 0 ? present[request] : absent[~request];
  }

  /** Returns a copy with these absent keys. */
  KeySet withAbsent(byte[][] absent) {
    return new KeySet(present, values, absent, sourceRecords, source);
  }
}
