package tech.bsdb.spark.read;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/** The keys that one task looks up. */
record KeySplit(List<KeysOfShard> shards) implements InputPartition {
  /** Copies the list. */
  KeySplit {
    shards = List.copyOf(shards);
  }

  /** The keys of a split that belong to one database. */
  record KeysOfShard(ShardPlace place, List<byte[]> keys) implements Serializable {
    /** Copies the list. */
    KeysOfShard {
      keys = List.copyOf(keys);
    }
  }
}
