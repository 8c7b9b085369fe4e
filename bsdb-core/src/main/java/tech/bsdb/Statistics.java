package tech.bsdb;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a database is: the figures of its manifest and the sizes of its files.
 *
 * @param directory where it is
 * @param databaseId its id, 32 hexadecimal digits
 * @param formatVersion the version of its format
 * @param layout {@code blocked}, {@code compact}, {@code compressed} or {@code none}
 * @param approximateWidth 0 for an exact database, else bytes kept of each value
 * @param records records that can be found
 * @param duplicatesDropped records that lost to another with the same key
 * @param checksumBits checksum bits per key
 * @param seed of the keys' signatures
 * @param keyBytes bytes of all keys added
 * @param valueBytes bytes of all values added
 * @param longestKey length of the longest key
 * @param longestValue length of the longest value
 * @param blockSize raw bytes per compressed block, 0 unless compressed
 * @param compressionLevel ZSTD level, 0 unless compressed
 * @param dictionaryBytes size of the ZSTD dictionary, 0 for none
 * @param shard number of this shard, 0 for a database that is not sharded
 * @param shards number of shards, 1 for a database that is not sharded
 * @param hashBytes bytes of the hash function
 * @param indexBytes bytes of the index
 * @param dataBytes bytes of the data files
 * @param databaseBytes bytes of all files
 * @param fileBytes bytes of each file by name
 * @param valueSchema the schema of the values where they are rows in Avro's binary encoding, in
 *     JSON; null where they are bytes
 * @param engine the engine in use and why, in words for people, or {@code not opened}
 * @param readsMemory whether lookups read memory alone, mapped or loaded, so that no call of theirs
 *     waits for the device but for a page that is not in memory yet; false if not opened
 */
public record Statistics(
    Path directory,
    String databaseId,
    int formatVersion,
    String layout,
    int approximateWidth,
    long records,
    long duplicatesDropped,
    int checksumBits,
    long seed,
    long keyBytes,
    long valueBytes,
    long longestKey,
    long longestValue,
    int blockSize,
    int compressionLevel,
    int dictionaryBytes,
    int shard,
    int shards,
    long hashBytes,
    long indexBytes,
    long dataBytes,
    long databaseBytes,
    Map<String, Long> fileBytes,
    @Nullable String valueSchema,
    String engine,
    boolean readsMemory) {}
