package tech.bsdb;

import java.util.Map;
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
 */
record Written(
    DatabaseId id,
    long records,
    long keys,
    long valuesCut,
    long keyBytes,
    long valueBytes,
    Map<String, Long> fileBytes,
    long dictionaryBytes) {}
