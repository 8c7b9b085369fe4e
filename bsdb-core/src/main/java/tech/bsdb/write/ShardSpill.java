package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import tech.bsdb.data.DictionaryTrainer;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.KeySlots;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/**
 * Routes records to the shards of their keys (FORMAT.md §14) and spills them until all are known.
 * Then the shards can be built one after another. Not thread-safe.
 */
final class ShardSpill implements Closeable {
  /** Bytes of all chunks, unless there are so many shards that the least chunks need more. */
  private static final int CHUNKS = 1 << 24;

  private static final int LEAST_CHUNK = 1 << 12;
  private static final int MOST_CHUNK = 1 << 20;

  private final int shards;
  private final SignatureFunction function;
  private final RecordSpill spill;
  private final long[] sampleBytes;

  /**
   * Creates the files in a directory.
   *
   * @param name the first part of the files' names
   * @param shards the number of shards
   * @param function gives the signatures
   */
  ShardSpill(Path directory, String name, int shards, SignatureFunction function)
      throws IOException {
    this.shards = shards;
    this.function = function;
    this.sampleBytes = new long[shards];
    this.spill = new RecordSpill(directory, name, shards, chunkBytes(shards));
  }

  /** Few shards are large, and large chunks make them quick to read back. */
  static int chunkBytes(int shards) {
    return Math.max(LEAST_CHUNK, Math.min(MOST_CHUNK, Integer.highestOneBit(CHUNKS / shards)));
  }

  /** Adds a record to the shard of its key. Its signature is not used. */
  void add(FramedRecord record) throws IOException {
    int slot = KeySlots.of(record.head, record.keyStart(), record.keyLength);
    int shard = KeySlots.shard(slot, shards);
    spill.add(shard, record);
    sampleBytes[shard] +=
        Math.min(DictionaryTrainer.MOST_OF_RECORD, record.headLength + (long) record.valueLength);
  }

  /** Flushes the files; no record may be added afterwards. */
  void finish() throws IOException {
    spill.finish();
  }

  /** The number of records in all shards. */
  long records() {
    return spill.records();
  }

  /** The number of records in a shard. */
  long records(int shard) {
    return spill.count(shard);
  }

  /** Bytes of the records in a shard that a dictionary would be trained on. */
  long sampleBytes(int shard) {
    return sampleBytes[shard];
  }

  /** Receives records. */
  @FunctionalInterface
  interface Records {
    /** Receives one record; the view is valid only until the call returns. */
    void take(FramedRecord record) throws IOException;
  }

  /**
   * Passes the records of a shard to a receiver, in the order in which they were added.
   *
   * @param step 1 for all records, or n for every n-th one from the first
   * @throws IOException if the files were damaged meanwhile, or by the receiver
   */
  void read(int shard, long step, Records receiver) throws IOException {
    SpilledRecord record = new SpilledRecord(spill);
    Signature signature = new Signature();
    long[] skip = {0};
    spill.read(
        shard,
        (number, bytes, from, keyFrom, keyLength, length) -> {
          if (skip[0] > 0) {
            skip[0]--;
            return;
          }
          skip[0] = step - 1;
          function.sign(bytes, keyFrom, keyLength, signature);
          receiver.take(record.of(bytes, from, signature.high, signature.low));
        });
  }

  /**
   * The number of a record of a shard among all records, or -1 if the shard has fewer.
   *
   * @param place the number of the record among those of the shard
   */
  long number(int shard, long place) throws IOException {
    long[] left = {place};
    long[] found = {-1};
    spill.read(
        shard,
        (number, bytes, from, keyFrom, keyLength, length) -> {
          if (left[0]-- == 0) {
            found[0] = number;
          }
        });
    return found[0];
  }

  /** Frees the memory of a shard, and deletes its file if no later shard is there. */
  void drop(int shard) throws IOException {
    spill.drop(shard);
  }

  /** Closes and deletes the files. */
  @Override
  public void close() {
    spill.close();
  }
}
