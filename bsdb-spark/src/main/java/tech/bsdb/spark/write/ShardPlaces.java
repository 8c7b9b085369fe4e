package tech.bsdb.spark.write;

import java.util.Arrays;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * Numbers that Spark's shuffle sends to given partitions. A shuffle by a column puts a row into
 * partition {@code pmod(murmur3(column, 42), partitions)}, so the number of a shard would meet that
 * of others in one partition, and leave others empty. For each shard there is a number that the
 * hash sends to the partition of the shard.
 */
final class ShardPlaces {
  private static final int SEED = 42;

  private ShardPlaces() {}

  /** Returns, for each shard, the least number that goes to the partition of the same number. */
  static int[] of(int shards) {
    int[] places = new int[shards];
    Arrays.fill(places, -1);
    int found = 0;
    for (int number = 0; found < shards; number++) {
      int shard = Math.floorMod(Murmur3_x86_32.hashInt(number, SEED), shards);
      if (places[shard] < 0) {
        places[shard] = number;
        found++;
      }
    }
    return places;
  }
}
