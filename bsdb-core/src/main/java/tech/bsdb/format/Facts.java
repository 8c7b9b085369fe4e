package tech.bsdb.format;

import org.jspecify.annotations.Nullable;

/**
 * What a manifest says of its database, each fact in its type and its range (FORMAT.md §6).
 *
 * @param layout how records lie in the data files
 * @param records keys that can be found
 * @param duplicatesDropped records that lost to another with the same key
 * @param keyBytes bytes of all keys
 * @param valueBytes bytes of all values
 * @param longestKey bytes of the longest key
 * @param longestValue bytes of the longest value
 * @param hashSeed seed of the signatures
 * @param hashBuckets buckets of the hash function
 * @param checksumBits checksum bits of a slot, 0 to 32
 * @param approximateWidth bytes kept of a value, 0 in an exact database
 * @param shard number of this shard
 * @param shards number of shards, 1 for a whole database
 * @param zstdBlock raw bytes of a compressed block, 0 where nothing is compressed
 * @param zstdLevel the level of compression, 0 where nothing is compressed
 * @param zstdLongest bytes of the longest frame of a block, 0 where nothing is compressed
 * @param valueSchema the schema of the values where they are rows, else null
 */
public record Facts(
    RecordLayout layout,
    long records,
    long duplicatesDropped,
    long keyBytes,
    long valueBytes,
    int longestKey,
    int longestValue,
    long hashSeed,
    long hashBuckets,
    int checksumBits,
    int approximateWidth,
    int shard,
    int shards,
    int zstdBlock,
    int zstdLevel,
    int zstdLongest,
    @Nullable String valueSchema) {

  /** The version of the format, which must be known before anything else is read. */
  public static long format(Manifest manifest) {
    return manifest.number("format");
  }

  /** The kind of the hash function, which must be known before the other facts. */
  public static String hashKind(Manifest manifest) {
    return manifest.text("hash.kind");
  }

  /**
   * Reads all facts.
   *
   * @throws IllegalArgumentException if one is missing, of another type or out of its range
   */
  public static Facts of(Manifest manifest) {
    RecordLayout layout = RecordLayout.of(manifest.text("layout"));
    boolean compressed = layout == RecordLayout.COMPRESSED;
    boolean approximate = layout == RecordLayout.NONE;
    manifest.text("shard.hash");
    int shards = small(manifest, "shard.count", 1, Integer.MAX_VALUE);
    return new Facts(
        layout,
        number(manifest, "records", 0, 1L << 40),
        number(manifest, "duplicates.dropped", 0, Long.MAX_VALUE),
        number(manifest, "bytes.key", 0, Long.MAX_VALUE),
        number(manifest, "bytes.value", 0, Long.MAX_VALUE),
        small(manifest, "longest.key", 0, RecordFrame.MAX_KEY),
        small(manifest, "longest.value", 0, RecordFrame.MAX_VALUE),
        number(manifest, "hash.seed", Long.MIN_VALUE, Long.MAX_VALUE),
        number(manifest, "hash.buckets", 1, 1L << 36),
        small(manifest, "hash.checksum.bits", 0, 32),
        small(manifest, "index.width", approximate ? 1 : 0, approximate ? 255 : 0),
        small(manifest, "shard.number", 0, shards - 1),
        shards,
        small(manifest, "zstd.block", compressed ? 512 : 0, compressed ? 1 << 20 : 0),
        small(manifest, "zstd.level", compressed ? 1 : 0, compressed ? 22 : 0),
        small(manifest, "zstd.longest", 0, compressed ? 1 << 21 : 0),
        manifest.textOrNull(Manifest.VALUE_SCHEMA));
  }

  private static long number(Manifest manifest, String name, long least, long most) {
    long value = manifest.number(name);
    if (value < least || value > most) {
      throw new IllegalArgumentException(name + "=" + value + ", not in " + least + " to " + most);
    }
    return value;
  }

  private static int small(Manifest manifest, String name, int least, int most) {
    return (int) number(manifest, name, least, most);
  }

  /** Whether the index holds the values. */
  public boolean approximate() {
    return layout == RecordLayout.NONE;
  }

  /** Whether records are gathered in compressed blocks. */
  public boolean compressed() {
    return layout == RecordLayout.COMPRESSED;
  }

  /** How addresses are packed. */
  public RecordAddress addresses() {
    return RecordAddress.of(layout, Math.max(2, zstdBlock));
  }
}
