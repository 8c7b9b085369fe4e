package tech.bsdb;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of a finished build.
 *
 * @param directory the database directory
 * @param databaseId the database id, 32 hexadecimal digits derived from content and options
 * @param records the number of records that lookups can find
 * @param duplicatesDropped records dropped because another record has the same key
 * @param valuesCut values truncated to the width of an approximate database
 * @param keyBytes total size of the keys added, in bytes
 * @param valueBytes total size of the values added, in bytes
 * @param databaseBytes total size of all files, in bytes
 * @param fileBytes the size of each file in bytes, by name, in the order written. The names of a
 *     shard's files start with that of its directory: {@code
 *     shard-00003-1a2b3c4d/data-000-1a2b3c4d.bsdb}
 * @param dictionaryBytes the size of the trained dictionary in bytes, or of those of all shards, at
 *     most 2^31 - 1; 0 for none
 * @param stageSeconds seconds spent in each stage, in stage order
 * @param warnings cleanup or sync failures after the database was published; empty if there were
 *     none
 * @param changes what a build {@linkplain DatabaseBuilder#from from a base} changed; otherwise null
 */
public record BuildReport(
    Path directory,
    String databaseId,
    long records,
    long duplicatesDropped,
    long valuesCut,
    long keyBytes,
    long valueBytes,
    long databaseBytes,
    Map<String, Long> fileBytes,
    int dictionaryBytes,
    Map<BuildListener.Stage, Double> stageSeconds,
    List<String> warnings,
    @Nullable ChangeCounts changes) {}
