package tech.bsdb.format;

import java.util.List;

/**
 * The facts that the manifest of a set of shards states (FORMAT.md §14). Each shard is an ordinary
 * database in a directory of its own; the keys are routed to them by {@link KeySlots}.
 *
 * @param records number of keys in all shards
 * @param shards the shards, by number
 */
public record ShardSet(long records, List<Shard> shards) {
  /** The layout that the manifest of a set names, by which a reader recognizes it. */
  public static final String LAYOUT = "sharded";

  /** The most shards of a set: each has at least one slot. */
  public static final int MOST = KeySlots.COUNT;

  // The names of the facts, besides those that Facts names, too.
  private static final String RECORDS = "records";

  /**
   * One shard of a set.
   *
   * @param number its number, from 0
   * @param id its database id
   * @param records its number of keys
   */
  public record Shard(int number, DatabaseId id, long records) {
    /** The name of its directory in the directory of the set. */
    public String directoryName() {
      return Manifest.shardDirectory(number) + "-" + id.shortName();
    }
  }

  /** Copies the list. */
  public ShardSet {
    shards = List.copyOf(shards);
  }

  /** The set of the given shards. */
  public static ShardSet of(List<Shard> shards) {
    return new ShardSet(shards.stream().mapToLong(Shard::records).sum(), shards);
  }

  /** Whether a manifest is that of a set. */
  public static boolean isSet(Manifest manifest) {
    return LAYOUT.equals(Facts.layoutName(manifest));
  }

  /**
   * Reads the facts.
   *
   * @throws IllegalArgumentException if a fact is missing, has the wrong type or is out of range
   */
  public static ShardSet of(Manifest manifest) {
    ShardSet set = of(manifest.shards());
    int count = Facts.shardCount(manifest, 2, MOST);
    if (count != set.shards.size()) {
      throw new IllegalArgumentException(count + " shards, but " + set.shards.size() + " listed");
    }
    for (int i = 0; i < count; i++) {
      Shard shard = set.shards.get(i);
      if (shard.number != i || shard.records < 0) {
        throw new IllegalArgumentException(shard + " listed as number " + i);
      }
    }
    if (manifest.number(RECORDS) != set.records) {
      throw new IllegalArgumentException(
          manifest.number(RECORDS) + " records, but " + set.records + " in the shards");
    }
    return set;
  }

  /** Creates the manifest of the set. */
  public Manifest manifest() {
    Manifest.Builder manifest = Facts.setManifest(LAYOUT, records, shards.size());
    shards.forEach(manifest::shard);
    return manifest.build();
  }
}
