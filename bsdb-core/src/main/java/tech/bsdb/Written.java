package tech.bsdb;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.DatabaseId;

/**
 * What a build has written into its directory.
 *
 * @param id the id of the database
 * @param records the number of records added
 * @param keys the number of keys that lookups find
 * @param valuesCut the number of values that were truncated
 * @param keyBytes total bytes of the keys added
 * @param valueBytes total bytes of the values added
 * @param fileBytes the size of each file by name, in the order written
 * @param dictionaryBytes the size of the dictionary, 0 for none
 * @param changes what became of the base and the changes, or null without a base
 */
record Written(
    DatabaseId id,
    long records,
    long keys,
    long valuesCut,
    long keyBytes,
    long valueBytes,
    Map<String, Long> fileBytes,
    long dictionaryBytes,
    ChangeCounts.@Nullable Facts changes) {
  /** The same with what became of the base and the changes. */
  Written with(ChangeCounts.Facts counted) {
    return new Written(
        id, records, keys, valuesCut, keyBytes, valueBytes, fileBytes, dictionaryBytes, counted);
  }
}
