package tech.bsdb.spark.write;

import java.io.Serializable;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the task of a shard tells the driver.
 *
 * @param shard the number of the shard
 * @param databaseId its database id
 * @param records its number of keys
 * @param duplicatesDropped the number of records that gave way to another one with the same key
 * @param valuesCut the number of values cut to the width of an approximate database
 * @param files the lengths of the files that were sent, by their paths below the version
 * @param manifest the manifest if this is a database of its own, which the driver writes; else null
 * @param bad the bad rows that this shard was told of
 * @param failure why there can be no such shard, so that another attempt would fail alike; or null
 */
record ShardResult(
    int shard,
    String databaseId,
    long records,
    long duplicatesDropped,
    long valuesCut,
    Map<String, Long> files,
    byte @Nullable [] manifest,
    BadRows bad,
    @Nullable String failure)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  static ShardResult failed(int shard, String failure) {
    return new ShardResult(shard, "", 0, 0, 0, Map.of(), null, new BadRows(), failure);
  }

  long bytes() {
    return files.values().stream().mapToLong(Long::longValue).sum();
  }
}
