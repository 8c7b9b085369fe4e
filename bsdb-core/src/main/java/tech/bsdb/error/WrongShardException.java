package tech.bsdb.error;

import java.io.IOException;

/**
 * Thrown when a lookup asks one or some shards of a set for a key of another shard. It says nothing
 * about whether the key is present: only the named shard knows.
 */
public final class WrongShardException extends IOException {
  private static final long serialVersionUID = 1L;

  private final byte[] key;
  private final int slot;
  private final int shard;

  /**
   * Creates an exception.
   *
   * @param location what was asked: a directory, or a location elsewhere
   * @param key the key
   * @param slot the slot of the key, 0 to 16,383
   * @param shard the number of the shard that holds the slot
   * @param asked the number of the shard that was asked and its slots, or the shards of a partial
   *     set
   */
  public WrongShardException(String location, byte[] key, int slot, int shard, String asked) {
    super(
        location
            + ": the key "
            + DuplicateKeyException.show(key)
            + " has slot "
            + slot
            + " and belongs to shard "
            + shard
            + "; this is "
            + asked
            + " (open the directory of the whole set, or ask shard "
            + shard
            + ")");
    this.key = key.clone();
    this.slot = slot;
    this.shard = shard;
  }

  /** The key. */
  public byte[] key() {
    return key.clone();
  }

  /** The slot of the key, 0 to 16,383, as Redis Cluster computes it. */
  public int slot() {
    return slot;
  }

  /** The number of the shard that holds the slot, from 0. */
  public int shard() {
    return shard;
  }
}
