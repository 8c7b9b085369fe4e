package tech.bsdb.flink.sink;

import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.util.InstantiationUtil;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.publish.BuiltSet;

/**
 * What a subtask tells of a shard at a checkpoint. Immutable.
 *
 * @param checkpoint the number of the checkpoint, or {@link WritePlan#END}
 * @param number the number of the shard
 * @param origin where its files are
 * @param marker what the marker of that version says while it is not complete
 * @param changed whether it was built for this checkpoint
 * @param shard the shard; null if it has not changed since the job began
 * @param base the version that the job began with; null if there was none
 * @param form that of the records, {@link SinkSettings#form}
 */
record ShardReport(
    long checkpoint,
    int number,
    Origin origin,
    String marker,
    boolean changed,
    BuiltSet.@Nullable Shard shard,
    @Nullable String base,
    String form)
    implements Serializable {
  /**
   * Where a shard is in a store.
   *
   * @param version the version
   * @param directory the directory below the store
   * @param databaseId its database id
   * @param records its number of keys
   */
  record Origin(String version, String directory, String databaseId, long records)
      implements Serializable {}

  /** The version whose directory has its files. */
  String version() {
    return origin.version();
  }

  byte[] encode() throws IOException {
    return InstantiationUtil.serializeObject(this);
  }

  static ShardReport decode(byte[] encoded) throws IOException {
    try {
      return InstantiationUtil.deserializeObject(encoded, ShardReport.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IOException("the state is that of another version of bsdb-flink: " + e, e);
    }
  }
}
