package tech.bsdb.error;

/**
 * Thrown when a build of a single shard receives a record, or a deletion, that belongs to another
 * shard.
 */
public final class ForeignRecordException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final byte[] key;
  private final long record;

  /**
   * Creates an exception.
   *
   * @param key the key
   * @param record the number of the record, from 0, in insertion order
   * @param slot the slot of the key, 0 to 16,383
   * @param owner the number of the shard that has the slot
   * @param built the shard that is built, and its slots
   */
  public ForeignRecordException(byte[] key, long record, int slot, int owner, String built) {
    super(
        "the key "
            + DuplicateKeyException.show(key)
            + " has slot "
            + slot
            + " and belongs to shard "
            + owner
            + ", but only "
            + built);
    this.key = key.clone();
    this.record = record;
  }

  /** The key. */
  public byte[] key() {
    return key.clone();
  }

  /** The number of the record, from 0, in insertion order; deletions also count. */
  public long record() {
    return record;
  }
}
