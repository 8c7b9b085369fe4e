package tech.bsdb;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a database is: the figures of its manifest and the sizes of its files. */
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
      String engine,
      boolean readsMemory) {}

  private final Facts facts;

  Statistics(Facts facts) {
    this.facts = facts;
  }

  /** Where it is. */
  public Path directory() {
    return facts.directory;
  }

  /** Its id, 32 hexadecimal digits. */
  public String databaseId() {
    return facts.databaseId;
  }

  /** The version of its format. */
  public int formatVersion() {
    return facts.formatVersion;
  }

  /** {@code blocked}, {@code compact}, {@code compressed} or {@code none}. */
  public String layout() {
    return facts.layout;
  }

  /** 0 for an exact database, else bytes kept of each value. */
  public int approximateWidth() {
    return facts.approximateWidth;
  }

  /** Records that can be found. */
  public long records() {
    return facts.records;
  }

  /** Records that lost to another with the same key. */
  public long duplicatesDropped() {
    return facts.duplicatesDropped;
  }

  /** Checksum bits per key. */
  public int checksumBits() {
    return facts.checksumBits;
  }

  /** Of the keys' signatures. */
  public long seed() {
    return facts.seed;
  }

  /** Bytes of all keys added. */
  public long keyBytes() {
    return facts.keyBytes;
  }

  /** Bytes of all values added. */
  public long valueBytes() {
    return facts.valueBytes;
  }

  /** Length of the longest key. */
  public long longestKey() {
    return facts.longestKey;
  }

  /** Length of the longest value. */
  public long longestValue() {
    return facts.longestValue;
  }

  /** Raw bytes per compressed block, 0 unless compressed. */
  public int blockSize() {
    return facts.blockSize;
  }

  /** ZSTD level, 0 unless compressed. */
  public int compressionLevel() {
    return facts.compressionLevel;
  }

  /** Size of the ZSTD dictionary, 0 for none. */
  public int dictionaryBytes() {
    return facts.dictionaryBytes;
  }

  /** Number of this shard, 0 for a database that is not sharded. */
  public int shard() {
    return facts.shard;
  }

  /** Number of shards, 1 for a database that is not sharded. */
  public int shards() {
    return facts.shards;
  }

  /** Bytes of the hash function. */
  public long hashBytes() {
    return facts.hashBytes;
  }

  /** Bytes of the index. */
  public long indexBytes() {
    return facts.indexBytes;
  }

  /** Bytes of the data files. */
  public long dataBytes() {
    return facts.dataBytes;
  }

  /** Bytes of all files. */
  public long databaseBytes() {
    return facts.databaseBytes;
  }

  /** Bytes of each file by name. */
  public Map<String, Long> fileBytes() {
    return facts.fileBytes;
  }

  /**
   * The schema of the values where they are rows in Avro's binary encoding, in JSON; null where
   * they are bytes.
   */
  public @Nullable String valueSchema() {
    return facts.valueSchema;
  }

  /** The engine in use and why, in words for people, or {@code not opened}. */
  public String engine() {
    return facts.engine;
  }

  /**
   * Whether lookups read memory alone, mapped or loaded, so that no call of theirs waits for the
   * device but for a page that is not in memory yet; false if not opened.
   */
  public boolean readsMemory() {
    return facts.readsMemory;
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
}
