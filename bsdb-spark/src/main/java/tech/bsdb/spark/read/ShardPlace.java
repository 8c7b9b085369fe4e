package tech.bsdb.spark.read;

import java.io.Serializable;

/**
 * Where a database is: an undivided one, or a shard of a set. Immutable.
 *
 * @param location the location of the table, as users write it
 * @param directory its directory, as a path below that; empty for the same
 * @param id its database id, 32 hexadecimal digits
 * @param shard its number; 0 for an undivided database
 * @param records its number of keys
 * @param bytes the size of its files, roughly
 */
record ShardPlace(String location, String directory, String id, int shard, long records, long bytes)
    implements Serializable {
  @Override
  public String toString() {
    return directory.isEmpty() ? location : location + "/" + directory;
  }
}
