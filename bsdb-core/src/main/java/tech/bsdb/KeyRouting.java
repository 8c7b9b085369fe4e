package tech.bsdb;

import tech.bsdb.format.KeySlots;

/**
 * The routing of keys to the shards of a set (FORMAT.md §14), for programs that send each key to
 * the machine that has its shard. A key has one of {@value #SLOTS} slots, computed as Redis Cluster
 * does, hash tags included; each shard holds the keys of a range of slots.
 */
public final class KeyRouting {
  /** The number of slots. */
  public static final int SLOTS = KeySlots.COUNT;

  private KeyRouting() {}

  /** The slot of a key, 0 to {@link #SLOTS} - 1. */
  public static int slot(byte[] key) {
    return KeySlots.of(key);
  }

  /** The slot of the key in a range of bytes, 0 to {@link #SLOTS} - 1. */
  public static int slot(byte[] bytes, int offset, int length) {
    return KeySlots.of(bytes, offset, length);
  }

  /**
   * The first slot of a shard; its slots end before the first one of the next shard.
   *
   * @param shard 0 to {@code shards}, where {@code shards} gives {@link #SLOTS}
   * @param shards the number of shards of the set, 1 to {@link #SLOTS}
   */
  public static int firstSlot(int shard, int shards) {
    if (shards < 1 || shards > SLOTS || shard < 0 || shard > shards) {
      throw new IllegalArgumentException("shard " + shard + " of " + shards);
    }
    return KeySlots.first(shard, shards);
  }
}
