package tech.bsdb;

import java.util.List;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ShardSet;

/**
 * What several processes need to build a set of shards together (FORMAT.md §14). Each record goes
 * to the process that builds the shard of its key, with {@link BuildOptions#withOnlyShard}. Once
 * all shards are in one directory, each in a directory named {@link Shard#directoryName}, the
 * {@link #manifest} of the set is written beside them as {@link #MANIFEST}.
 */
public final class ShardedBuild {
  /** The file name of manifests. A directory without one is not a database. */
  public static final String MANIFEST = Manifest.FILE_NAME;

  private ShardedBuild() {}

  /**
   * A shard that was built.
   *
   * @param number its number, from 0
   * @param databaseId its database id, from {@link BuildReport#databaseId}
   * @param records its number of keys, from {@link BuildReport#records}
   */
  public record Shard(int number, String databaseId, long records) {
    /**
     * The name of its directory in the directory of the set.
     *
     * @throws IllegalArgumentException if the database id is not one
     */
    public String directoryName() {
      return shard().directoryName();
    }

    private ShardSet.Shard shard() {
      return new ShardSet.Shard(number, DatabaseId.parse(databaseId), records);
    }
  }

  /**
   * The number of the shard that holds a key.
   *
   * @param bytes an array that contains the key
   * @param from where the key starts
   * @param length its length in bytes
   * @param shards the number of shards of the set, 1 to 16,384
   */
  public static int shardOf(byte[] bytes, int from, int length, int shards) {
    return KeySlots.shard(KeySlots.of(bytes, from, length), shards);
  }

  /**
   * The content of the manifest of a set.
   *
   * @param shards all its shards, by number
   * @throws IllegalArgumentException if there are fewer than two, or one has another number
   */
  public static byte[] manifest(List<Shard> shards) {
    if (shards.size() < 2) {
      throw new IllegalArgumentException(shards.size() + " shards; a set has at least 2");
    }
    for (int i = 0; i < shards.size(); i++) {
      if (shards.get(i).number() != i) {
        throw new IllegalArgumentException(shards.get(i) + " listed as number " + i);
      }
    }
    return ManifestFile.encode(ShardSet.of(shards.stream().map(Shard::shard).toList()).manifest());
  }
}
