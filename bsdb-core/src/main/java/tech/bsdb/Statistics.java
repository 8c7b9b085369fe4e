package tech.bsdb;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.ShardRanges;

/** Statistics of a database or of a set of shards: manifest facts and file sizes. */
public final class Statistics {
  record Facts(
      Path directory,
      String databaseId,
      int formatVersion,
      String layout,
      int approximateWidth,
      long records,
      long duplicatesDropped,
      int checksumBits,
      long seed,
      long keyBytes,
      long valueBytes,
      long longestKey,
      long longestValue,
      int blockSize,
      int compressionLevel,
      int dictionaryBytes,
      int shard,
      int shards,
      long hashBytes,
      long indexBytes,
      long dataBytes,
      long databaseBytes,
      Map<String, Long> fileBytes,
      @Nullable String valueSchema,
      long bins,
      boolean spanning,
      int filterBits,
      long filterBytes,
      boolean ordered,
      long orderBytes,
      String hash,
      List<Long> shardRecords,
      List<Integer> heldShards,
      @Nullable String wholeSetId,
      String engine,
      boolean readsMemory) {}

  /** Instead of the number of a shard: this is a set, whole or partial. */
  static final int SET = -1;

  private final Facts facts;

  Statistics(Facts facts) {
    this.facts = facts;
  }

  /** The database directory. */
  public Path directory() {
    return facts.directory;
  }

  /** The database id, 32 hexadecimal digits. */
  public String databaseId() {
    return facts.databaseId;
  }

  /** The file format version. */
  public int formatVersion() {
    return facts.formatVersion;
  }

  /**
   * {@code blocked}, {@code compact}, {@code compressed}, {@code packed}, {@code packed-compressed}
   * or {@code none}.
   */
  public String layout() {
    return facts.layout;
  }

  /** The kind of the hash function, {@code gov3-bucketed}, {@code ptr} or {@code none}. */
  public String hash() {
    return facts.hash;
  }

  /** 0 for an exact database, otherwise the number of bytes stored per value. */
  public int approximateWidth() {
    return facts.approximateWidth;
  }

  /** Number of records that lookups can find; of a partial set, in the shards that it holds. */
  public long records() {
    return facts.records;
  }

  /** Records dropped because another record has the same key. */
  public long duplicatesDropped() {
    return facts.duplicatesDropped;
  }

  /** Checksum bits per key. */
  public int checksumBits() {
    return facts.checksumBits;
  }

  /** The seed of the key signatures. */
  public long seed() {
    return facts.seed;
  }

  /** Total size of the keys added, in bytes. */
  public long keyBytes() {
    return facts.keyBytes;
  }

  /** Total size of the values added, in bytes. */
  public long valueBytes() {
    return facts.valueBytes;
  }

  /** Length of the longest key in bytes. */
  public long longestKey() {
    return facts.longestKey;
  }

  /** Length of the longest value in bytes. */
  public long longestValue() {
    return facts.longestValue;
  }

  /** Raw bytes per compressed block; 0 unless compressed. */
  public int blockSize() {
    return facts.blockSize;
  }

  /** ZSTD compression level; 0 unless compressed. */
  public int compressionLevel() {
    return facts.compressionLevel;
  }

  /** Size of the ZSTD dictionary in bytes; 0 for none. */
  public int dictionaryBytes() {
    return facts.dictionaryBytes;
  }

  /** Number of this shard; 0 for an undivided database, -1 for a set of shards. */
  public int shard() {
    return facts.shard;
  }

  /** Number of shards of the whole set; 1 for an undivided database. */
  public int shards() {
    return facts.shards;
  }

  /** Whether this is a set of shards, whole or partial. */
  public boolean isSet() {
    return facts.shard == SET;
  }

  /** Whether this is a set that holds only some of its shards. */
  public boolean isPartialSet() {
    return facts.wholeSetId != null;
  }

  /** Number of records of each shard that is held, otherwise of the database. */
  public List<Long> shardRecords() {
    return facts.shardRecords;
  }

  /**
   * Numbers of the shards that are held, ascending: all or some of a set, or the one shard. An
   * undivided database has number 0.
   */
  public List<Integer> heldShards() {
    return facts.heldShards;
  }

  /** The numbers of {@link #heldShards} as ranges: {@code 0-15,18}. */
  public String heldShardRanges() {
    return ShardRanges.text(facts.heldShards);
  }

  /**
   * The id of the whole set, 32 hexadecimal digits, if this holds only some of its shards;
   * otherwise null. The {@link #databaseId} of a partial set is its own.
   */
  public @Nullable String wholeSetId() {
    return facts.wholeSetId;
  }

  /** Size of the hash function in bytes. */
  public long hashBytes() {
    return facts.hashBytes;
  }

  /** Size of the index in bytes. */
  public long indexBytes() {
    return facts.indexBytes;
  }

  /** Size of the data files in bytes. */
  public long dataBytes() {
    return facts.dataBytes;
  }

  /** Total size of all files in bytes. */
  public long databaseBytes() {
    return facts.databaseBytes;
  }

  /** Size of each file in bytes, by its path in the directory; the directory's manifest is last. */
  public Map<String, Long> fileBytes() {
    return facts.fileBytes;
  }

  /** The JSON schema of values encoded as Avro binary rows; null if values are plain bytes. */
  public @Nullable String valueSchema() {
    return facts.valueSchema;
  }

  /**
   * A human-readable description of the engine in use and why it was chosen, or {@code not opened}.
   */
  public String engine() {
    return facts.engine;
  }

  /**
   * Whether lookups read only mapped or loaded memory and thus wait for the device only when a page
   * is not in memory yet; false if not opened.
   */
  public boolean readsMemory() {
    return facts.readsMemory;
  }

  /** Bits per key of the filter's remainders; 0 if there is no filter. */
  public int filterBits() {
    return facts.filterBits;
  }

  /** Whether the order of the keys was stored ({@link BuildOptions#withOrderedKeys}). */
  public boolean ordered() {
    return facts.ordered;
  }

  /** Size of the order of the keys in bytes; 0 if it was not stored. */
  public long orderBytes() {
    return facts.orderBytes;
  }

  /**
   * Size of the filter in bytes; 0 if there is none. A database opened to read from the device
   * keeps it in memory.
   */
  public long filterBytes() {
    return facts.filterBytes;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Statistics that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "Statistics" + facts.toString().substring("Facts".length());
  }

  /** The number of bins in the packed layout, otherwise 0. */
  public long bins() {
    return facts.bins;
  }

  /** Whether the bins of the packed layout span pages to leave no gaps between them. */
  public boolean spanning() {
    return facts.spanning;
  }
}
