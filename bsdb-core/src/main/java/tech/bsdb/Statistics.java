package tech.bsdb;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ShardRanges;
import tech.bsdb.format.ShardSet;

/**
 * Statistics of a database or of a set of shards: manifest facts and file sizes.
 *
 * @param directory the database directory; for a remote database, that of its copies of small files
 * @param location where the database is, as people write it
 * @param databaseId the database id, 32 hexadecimal digits
 * @param formatVersion the format version of the manifest; of a set, of that of the first shard
 * @param layout {@code blocked}, {@code compact}, {@code compressed}, {@code packed}, {@code
 *     packed-compressed} or {@code none}
 * @param approximateWidth 0 for an exact database, otherwise the number of bytes stored per value
 * @param records the number of records that lookups can find; of a partial set, in the shards that
 *     it holds
 * @param duplicatesDropped records dropped because another record has the same key
 * @param checksumBits checksum bits per key
 * @param signature the algorithm of the key signatures, {@code spooky} or {@code mum}
 * @param seed the seed of the key signatures
 * @param keyBytes total size of the keys added, in bytes
 * @param valueBytes total size of the values added, in bytes
 * @param longestKey the length of the longest key in bytes
 * @param longestValue the length of the longest value in bytes
 * @param blockSize raw bytes per compressed block; 0 unless compressed
 * @param compressionLevel the ZSTD compression level; 0 unless compressed
 * @param dictionaryBytes the size of the ZSTD dictionary in bytes; 0 for none
 * @param shard the number of this shard; 0 for an undivided database, -1 for a set of shards
 * @param shards the number of shards of the whole set; 1 for an undivided database
 * @param hashBytes the size of the hash function in bytes
 * @param indexBytes the size of the index in bytes
 * @param dataBytes the size of the data files in bytes
 * @param databaseBytes total size of all files in bytes
 * @param fileBytes the size of each file in bytes, by its path in the directory; the directory's
 *     manifest is last
 * @param valueSchema the JSON schema of values encoded as Avro binary rows; null if values are
 *     plain bytes
 * @param valueElements the type and number of the elements of every value; null if they are not
 *     stated
 * @param bins the number of bins in the packed layout, otherwise 0
 * @param spanning whether the bins of the packed layout span pages to leave no gaps between them
 * @param filterBits bits per key of the filter's remainders; 0 if there is no filter
 * @param filterBytes the size of the filter in bytes; 0 if there is none. A database opened to read
 *     from the device keeps it in memory
 * @param ordered whether the order of the keys was stored ({@link BuildOptions#withOrderedKeys})
 * @param orderBytes the size of the order of the keys in bytes; 0 if it was not stored
 * @param hash the kind of the hash function, {@code gov3-bucketed}, {@code ptr} or {@code none}
 * @param shardRecords the number of records of each shard that is held, otherwise of the database
 * @param heldShards the numbers of the shards that are held, ascending: all or some of a set, or
 *     the one shard. An undivided database has number 0
 * @param wholeSetId the id of the whole set, 32 hexadecimal digits, if this holds only some of its
 *     shards; otherwise null. The {@link #databaseId} of a partial set is its own
 * @param engine a human-readable description of the engine in use and why it was chosen, or {@code
 *     not opened}
 * @param readsMemory whether lookups read only mapped or loaded memory and thus wait for the device
 *     only when a page is not in memory yet; false if not opened
 */
public record Statistics(
    Path directory,
    String location,
    String databaseId,
    int formatVersion,
    String layout,
    int approximateWidth,
    long records,
    long duplicatesDropped,
    int checksumBits,
    String signature,
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
    @Nullable ValueElements valueElements,
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
    boolean readsMemory) {
  /** Collects the statistics of a database or of a set of shards from its manifests. */
  static Statistics of(DataSet opened, String engine, boolean readsMemory) {
    Facts first = opened.facts();
    Facts.Filter filter = first.filter();
    Manifest manifest = opened.databases().get(0).manifest();
    Map<String, Long> files = fileBytes(opened);
    boolean set = opened.isSet();
    ShardSet partial = opened.partialSet();
    return new Statistics(
        opened.path(),
        opened.location(),
        opened.id().toString(),
        first.format(),
        first.layoutId(),
        first.approximateWidth(),
        sum(opened, Facts::records),
        sum(opened, Facts::duplicatesDropped),
        first.checksumBits(),
        first.signature().id(),
        first.hashSeed(),
        sum(opened, Facts::keyBytes),
        sum(opened, Facts::valueBytes),
        most(opened, Facts::longestKey),
        most(opened, Facts::longestValue),
        first.zstdBlock(),
        first.zstdLevel(),
        Math.toIntExact(payloadBytes(opened, FileKind.DICTIONARY)),
        set ? -1 : first.shard(),
        first.shards(),
        bytes(opened, FileKind.HASH),
        bytes(opened, FileKind.INDEX),
        bytes(opened, FileKind.DATA),
        files.values().stream().mapToLong(Long::longValue).sum(),
        files,
        first.valueSchema(),
        first.valueElements(),
        first.packed() ? sum(opened, each -> each.requireBins().count()) : 0,
        first.packed() && first.requireBins().spanning(),
        filter == null ? 0 : filter.bits(),
        bytes(opened, FileKind.FILTER),
        first.order() != null,
        bytes(opened, FileKind.ORDER),
        first.packed() ? "none" : Facts.hashKind(manifest),
        opened.databases().stream().map(each -> each.facts().records()).toList(),
        opened.databases().stream().map(each -> each.facts().shard()).toList(),
        partial == null ? null : String.valueOf(partial.whole()),
        engine,
        readsMemory);
  }

  /** The sizes of all files, by their paths in the directory; each manifest after its files. */
  private static Map<String, Long> fileBytes(DataSet opened) {
    Map<String, Long> files = new LinkedHashMap<>();
    for (DatabaseDirectory database : opened.databases()) {
      String prefix = opened.isSet() ? database.path().getFileName() + "/" : "";
      for (FileEntry entry : database.manifest().files()) {
        files.put(prefix + entry.name(database.id()), entry.length());
      }
      files.put(prefix + Manifest.FILE_NAME, database.manifestBytes());
    }
    if (opened.isSet()) {
      files.put(Manifest.FILE_NAME, opened.setManifestBytes());
    }
    return files;
  }

  private static long sum(DataSet opened, ToLongFunction<Facts> fact) {
    return opened.databases().stream().map(DatabaseDirectory::facts).mapToLong(fact).sum();
  }

  private static long most(DataSet opened, ToLongFunction<Facts> fact) {
    return opened.databases().stream()
        .map(DatabaseDirectory::facts)
        .mapToLong(fact)
        .max()
        .orElse(0);
  }

  private static long bytes(DataSet opened, FileKind kind) {
    return entries(opened, kind).mapToLong(FileEntry::length).sum();
  }

  private static long payloadBytes(DataSet opened, FileKind kind) {
    return entries(opened, kind).mapToLong(FileEntry::payloadBytes).sum();
  }

  private static Stream<FileEntry> entries(DataSet opened, FileKind kind) {
    return opened.files().stream()
        .map(DataSet.Located::entry)
        .filter(entry -> entry.file().kind() == kind);
  }

  /** Whether this is a set of shards, whole or partial. */
  public boolean isSet() {
    return shard == -1;
  }

  /** Whether this is a set that holds only some of its shards. */
  public boolean isPartialSet() {
    return wholeSetId != null;
  }

  /** The numbers of {@link #heldShards} as ranges: {@code 0-15,18}. */
  public String heldShardRanges() {
    return ShardRanges.text(heldShards);
  }
}
