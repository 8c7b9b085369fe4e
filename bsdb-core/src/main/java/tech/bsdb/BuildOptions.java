package tech.bsdb;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.ShardSet;
import tech.bsdb.hash.HashKind;

/**
 * Build options: the database to produce and the resources to use. Immutable; the {@code with}
 * methods return modified copies, and fail with {@link IllegalArgumentException} if a value is out
 * of range.
 *
 * <p>An option that has no effect in the kind of database that is built must be its default; builds
 * and plans reject others with {@link IllegalArgumentException}. A layout or data files mean
 * nothing for an approximate database, compression without a compressed layout, the hash function
 * and its checksum bits in a packed layout, and a filter in any other.
 *
 * <p>Every option that affects the bytes of the database is stored in its manifest, except the
 * order of the records. Memory, threads and the temporary directory affect only how long a build
 * takes.
 */
public final class BuildOptions {
  /** Default value width of an approximate database, in bytes. */
  public static final int DEFAULT_APPROXIMATE_WIDTH = 8;

  /** Maximum length of a value schema, in bytes of UTF-8. */
  public static final int MAX_VALUE_SCHEMA = 8 << 20;

  /** Mutable only until it becomes part of a {@code BuildOptions}. */
  private static final class Settings implements Cloneable {
    @Nullable Layout layout;
    HashAlgorithm hash = HashAlgorithm.PTR;
    SignatureAlgorithm signature = SignatureAlgorithm.MUM;
    int checksumBits = 4;
    int filterBits;
    int approximateWidth;
    int blockSize = 1024;
    int compressionLevel = 6;
    int dictionaryBytes = 112_640;
    int sampleRecords = 10_000;
    int dataFiles = 1;
    int shards = 1;
    int onlyShard = -1;
    long memoryBytes = 1L << 30;
    int threads = Math.min(256, Runtime.getRuntime().availableProcessors());
    DuplicatePolicy duplicates = DuplicatePolicy.ERROR;
    boolean signatureOrder;
    boolean orderedKeys;
    boolean overwrite;
    @Nullable Path temporaryDirectory;
    @Nullable String valueSchema;
    @Nullable ValueElements valueElements;
    long seed;
    @Nullable PrivateKey signingKey; // not one of all, so that no text shows it

    Settings copy() {
      try {
        return (Settings) clone();
      } catch (CloneNotSupportedException e) {
        throw new IllegalStateException(e);
      }
    }

    List<@Nullable Object> all() {
      return Arrays.asList(
          layout,
          hash,
          signature,
          checksumBits,
          filterBits,
          approximateWidth,
          blockSize,
          compressionLevel,
          dictionaryBytes,
          sampleRecords,
          dataFiles,
          shards,
          onlyShard,
          memoryBytes,
          threads,
          duplicates,
          signatureOrder,
          orderedKeys,
          overwrite,
          temporaryDirectory,
          valueSchema,
          valueElements,
          seed);
    }
  }

  private static final BuildOptions DEFAULTS = new BuildOptions(new Settings());

  private final Settings settings;

  private BuildOptions(Settings settings) {
    this.settings = settings;
  }

  /**
   * The defaults: packed layout, exact, no filter, 1 GiB for the passes, all cores, duplicates
   * rejected.
   */
  public static BuildOptions defaults() {
    return DEFAULTS;
  }

  /**
   * The options for a database like another one, as far as its manifest states them. A dictionary
   * may be as large as the other one's largest. The sample for it, memory and threads are defaults.
   * Of records with the same key, the last one is kept.
   *
   * @param database a database, a whole set of shards, or one shard of a set
   */
  public static BuildOptions of(Database database) {
    DataSet opened = database.lookup().opened();
    DatabaseDirectory first = opened.databases().get(0);
    Facts facts = first.facts();
    Settings like = new Settings();
    like.layout = facts.layout();
    like.approximateWidth = facts.approximateWidth();
    if (!facts.packed()) {
      like.hash =
          Facts.hashKind(first.manifest()).equals(HashKind.GOV.id())
              ? HashAlgorithm.GOV
              : HashAlgorithm.PTR;
      like.checksumBits = facts.checksumBits();
    }
    if (facts.compressed()) {
      like.blockSize = facts.zstdBlock();
      like.compressionLevel = facts.zstdLevel();
      like.dictionaryBytes =
          opened.databases().stream().mapToInt(DatabaseDirectory::dictionaryBytes).max().orElse(0);
    }
    Facts.Filter filter = facts.filter();
    like.filterBits = filter == null ? 0 : filter.bits();
    like.orderedKeys = facts.order() != null;
    like.dataFiles = Math.max(1, first.manifest().files(FileKind.DATA).size());
    like.shards = facts.shards();
    like.onlyShard = opened.isSet() || facts.shards() == 1 ? -1 : facts.shard();
    like.duplicates = DuplicatePolicy.LAST;
    like.valueSchema = facts.valueSchema();
    like.valueElements = facts.valueElements();
    like.signature = facts.signature();
    like.seed = facts.hashSeed();
    return new BuildOptions(like);
  }

  private BuildOptions with(Consumer<Settings> change) {
    Settings changed = settings.copy();
    change.accept(changed);
    return new BuildOptions(changed);
  }

  /** Returns a value, and fails with {@link IllegalArgumentException} if it is out of range. */
  static long ranged(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(name + " is " + value + ", not in " + min + " to " + max);
    }
    return value;
  }

  private static int ranged(String name, int value, int min, int max) {
    return (int) ranged(name, (long) value, min, max);
  }

  /**
   * The record layout of the data files. Unless one is chosen, it is {@link Layout#PACKED}; but
   * {@link Layout#BLOCKED} with {@link #orderedKeys()}, since its ranges are faster, or if a {@link
   * #hash()} or {@link #checksumBits()} other than the default is set, which packed databases do
   * not have. Approximate databases have no layout; unless one is chosen, this is {@code BLOCKED}.
   */
  public Layout layout() {
    if (settings.layout != null) {
      return settings.layout;
    }
    boolean indexed =
        settings.orderedKeys
            || settings.approximateWidth > 0
            || settings.hash != DEFAULTS.settings.hash
            || settings.checksumBits != DEFAULTS.settings.checksumBits;
    return indexed ? Layout.BLOCKED : Layout.PACKED;
  }

  /** These options with this {@link #layout()}, regardless of the other options. */
  public BuildOptions withLayout(Layout layout) {
    Objects.requireNonNull(layout, "layout");
    return with(changed -> changed.layout = layout);
  }

  /** The minimal perfect hash function, by default {@code PTR}. The packed layouts have none. */
  public HashAlgorithm hash() {
    return settings.hash;
  }

  /** These options with another {@link #hash()}. */
  public BuildOptions withHash(HashAlgorithm hash) {
    Objects.requireNonNull(hash, "hash");
    return with(changed -> changed.hash = hash);
  }

  /**
   * The algorithm of the key signatures, by default {@link SignatureAlgorithm#MUM}. A database with
   * {@link HashAlgorithm#GOV} always has {@link SignatureAlgorithm#SPOOKY}.
   */
  public SignatureAlgorithm signature() {
    boolean hashed = approximateWidth() > 0 || !layout().isPacked();
    return hashed && hash() == HashAlgorithm.GOV ? SignatureAlgorithm.SPOOKY : settings.signature;
  }

  /**
   * These options with another {@link #signature()}. Readers of release 1.0.0 open databases with
   * {@link SignatureAlgorithm#SPOOKY} only, and refuse others.
   */
  public BuildOptions withSignature(SignatureAlgorithm signature) {
    Objects.requireNonNull(signature, "signature");
    return with(changed -> changed.signature = signature);
  }

  /**
   * Checksum bits per key, by which the hash function rejects absent keys. A fraction of 2^-bits of
   * them passes; key comparison then rejects them, except in approximate mode. The packed layouts
   * have none, but can have {@link #filterBits()}.
   */
  public int checksumBits() {
    return settings.checksumBits;
  }

  /** These options with another {@link #checksumBits()}, 0 to 32. */
  public BuildOptions withChecksumBits(int checksumBits) {
    ranged("checksumBits", checksumBits, 0, 32);
    return with(changed -> changed.checksumBits = checksumBits);
  }

  /**
   * Bits per key, besides about 2.25 more, of a filter that packed lookups keep in memory if they
   * read from the device. It rejects absent keys without a read, except a fraction of 2^-bits. 0
   * for no filter. Other layouts have {@link #checksumBits()} instead, and no filter.
   */
  public int filterBits() {
    return settings.filterBits;
  }

  /**
   * These options with another {@link #filterBits()}.
   *
   * @param filterBits 0 to 16
   * @throws IllegalArgumentException if it is out of range
   */
  public BuildOptions withFilterBits(int filterBits) {
    ranged("filterBits", filterBits, 0, 16);
    return with(changed -> changed.filterBits = filterBits);
  }

  /**
   * 0 for an exact database; 1 to 255 for an approximate one, which stores no keys and at most this
   * many bytes of each value.
   */
  public int approximateWidth() {
    return settings.approximateWidth;
  }

  /** These options with another {@link #approximateWidth()}, 0 to 255. */
  public BuildOptions withApproximateWidth(int approximateWidth) {
    ranged("approximateWidth", approximateWidth, 0, 255);
    return with(changed -> changed.approximateWidth = approximateWidth);
  }

  /** Raw bytes per compressed block. */
  public int blockSize() {
    return settings.blockSize;
  }

  /** These options with another {@link #blockSize()}, 512 to 1,048,576. */
  public BuildOptions withBlockSize(int blockSize) {
    ranged("blockSize", blockSize, 512, 1 << 20);
    return with(changed -> changed.blockSize = blockSize);
  }

  /** The ZSTD compression level. */
  public int compressionLevel() {
    return settings.compressionLevel;
  }

  /** These options with another {@link #compressionLevel()}, 1 to 22. */
  public BuildOptions withCompressionLevel(int compressionLevel) {
    ranged("compressionLevel", compressionLevel, 1, 22);
    return with(changed -> changed.compressionLevel = compressionLevel);
  }

  /** Maximum size of the trained ZSTD dictionary, in bytes; 0 for no dictionary. */
  public int dictionaryBytes() {
    return settings.dictionaryBytes;
  }

  /** These options with another {@link #dictionaryBytes()}, 0 to 1,048,576. */
  public BuildOptions withDictionaryBytes(int dictionaryBytes) {
    ranged("dictionaryBytes", dictionaryBytes, 0, 1 << 20);
    return with(changed -> changed.dictionaryBytes = dictionaryBytes);
  }

  /** Number of records sampled to train the dictionary of a shard; 0 for no dictionary. */
  public int sampleRecords() {
    return settings.sampleRecords;
  }

  /** These options with another {@link #sampleRecords()}, 0 to 1,000,000. */
  public BuildOptions withSampleRecords(int sampleRecords) {
    ranged("sampleRecords", sampleRecords, 0, 1_000_000);
    return with(changed -> changed.sampleRecords = sampleRecords);
  }

  /** The number of data files, of each shard if there are several. */
  public int dataFiles() {
    return settings.dataFiles;
  }

  /** These options with another {@link #dataFiles()}, 1 to 128. */
  public BuildOptions withDataFiles(int dataFiles) {
    ranged("dataFiles", dataFiles, 1, 128);
    return with(changed -> changed.dataFiles = dataFiles);
  }

  /**
   * The number of shards; 1 for an undivided database. Otherwise, the target contains a database
   * for each shard, in its own directory. Each key belongs to one shard, chosen as Redis Cluster
   * chooses the slot of a key; the shards hold equal ranges of slots.
   *
   * <p>A build of several shards first routes all records to temporary files, then builds one shard
   * after another, each with the whole {@link #memoryBytes()} and all {@link #threads()}. Besides
   * what a build of one shard takes, the routing takes 20 MiB of memory up to 4,096 shards, and
   * beyond that 4 KiB for each shard and 4 MiB. The temporary files take the space of the records;
   * a sixteenth of it is freed after each sixteenth of the shards.
   */
  public int shards() {
    return settings.shards;
  }

  /** These options with another {@link #shards()}, 1 to 16,384. */
  public BuildOptions withShards(int shards) {
    ranged("shards", shards, 1, ShardSet.MOST);
    return with(changed -> changed.shards = shards);
  }

  /** The only shard to build, or empty to build the whole set. */
  public OptionalInt onlyShard() {
    return settings.onlyShard < 0 ? OptionalInt.empty() : OptionalInt.of(settings.onlyShard);
  }

  /**
   * These options with another {@link #onlyShard()}, so that several processes can share the work:
   * the target becomes the database of that shard alone, and records of other shards are rejected.
   * {@link ShardedBuild} says which shard a key belongs to, and joins the shards.
   *
   * @param onlyShard the number of the shard, from 0, less than {@link #shards()} when the build
   *     starts
   * @throws IllegalArgumentException if it is out of range
   */
  public BuildOptions withOnlyShard(int onlyShard) {
    ranged("onlyShard", onlyShard, 0, ShardSet.MOST - 1);
    return with(changed -> changed.onlyShard = onlyShard);
  }

  /** Whether records are stored in the order of their signatures. Packed layouts always do so. */
  public boolean signatureOrder() {
    return settings.signatureOrder;
  }

  /**
   * These options with another {@link #signatureOrder()}. If true, the bytes of the database do not
   * depend on the order in which records are added, except that of duplicates of which one is kept.
   * The records go through temporary files of their size, which a {@link LayoutPlan} does not
   * count. Layouts that compress records refuse it: they learn from the records that come first,
   * and compress neighbors together. With {@link #orderedKeys()}, records are stored in the order
   * of their keys instead, to the same effect.
   */
  public BuildOptions withSignatureOrder(boolean signatureOrder) {
    return with(changed -> changed.signatureOrder = signatureOrder);
  }

  /** Whether the order of the keys is stored, for ranges and prefixes. */
  public boolean orderedKeys() {
    return settings.orderedKeys;
  }

  /**
   * These options with another {@link #orderedKeys()}. If true, the database has another file, a
   * tree of its keys in the order of their unsigned bytes, which answers {@link Database#range
   * ranges}, and records are stored in this order, except in the packed layouts: those of a range
   * are then adjacent, and pass through temporary files of their size first. Lookups do not use the
   * order. Builds of approximate databases reject it. Unless a layout is chosen, it is then {@link
   * Layout#BLOCKED}.
   */
  public BuildOptions withOrderedKeys(boolean orderedKeys) {
    return with(changed -> changed.orderedKeys = orderedKeys);
  }

  /** Memory available to the passes that write the index or pack the records, in bytes. */
  public long memoryBytes() {
    return settings.memoryBytes;
  }

  /** These options with another {@link #memoryBytes()}, at least 1 MiB. */
  public BuildOptions withMemoryBytes(long memoryBytes) {
    ranged("memoryBytes", memoryBytes, 1 << 20, Long.MAX_VALUE);
    return with(changed -> changed.memoryBytes = memoryBytes);
  }

  /** The number of worker threads. */
  public int threads() {
    return settings.threads;
  }

  /** These options with another {@link #threads()}, 1 to 256. */
  public BuildOptions withThreads(int threads) {
    ranged("threads", threads, 1, 256);
    return with(changed -> changed.threads = threads);
  }

  /** How duplicate keys are handled. */
  public DuplicatePolicy duplicates() {
    return settings.duplicates;
  }

  /** These options with another {@link #duplicates()}. */
  public BuildOptions withDuplicates(DuplicatePolicy duplicates) {
    Objects.requireNonNull(duplicates, "duplicates");
    return with(changed -> changed.duplicates = duplicates);
  }

  /** The key that signs the manifest, or null to leave it unsigned. */
  public @Nullable PrivateKey signingKey() {
    return settings.signingKey;
  }

  /**
   * These options with another {@link #signingKey()}, a key of Ed25519 ({@link KeyFiles}). It signs
   * the manifest of the database or of the set, from which all else follows (docs/FORMAT.md §18).
   * The database id does not depend on it.
   */
  public BuildOptions withSigningKey(@Nullable PrivateKey signingKey) {
    return with(changed -> changed.signingKey = signingKey);
  }

  /** Whether the build replaces an existing database at the target. */
  public boolean overwrite() {
    return settings.overwrite;
  }

  /** These options with another {@link #overwrite()}. */
  public BuildOptions withOverwrite(boolean overwrite) {
    return with(changed -> changed.overwrite = overwrite);
  }

  /** The directory for temporary files, or null to use the target's file system. */
  public @Nullable Path temporaryDirectory() {
    return settings.temporaryDirectory;
  }

  /** These options with another {@link #temporaryDirectory()}. */
  public BuildOptions withTemporaryDirectory(@Nullable Path temporaryDirectory) {
    return with(changed -> changed.temporaryDirectory = temporaryDirectory);
  }

  /** The schema of values encoded as Avro binary rows; null if values are plain bytes. */
  public @Nullable String valueSchema() {
    return settings.valueSchema;
  }

  /**
   * These options with another {@link #valueSchema()}, which the database stores verbatim. The
   * caller must ensure that values match it.
   *
   * @param valueSchema JSON on one line, 1 to {@link #MAX_VALUE_SCHEMA} bytes, or null
   * @throws IllegalArgumentException if it is empty, too long, or contains a line break or a NUL
   *     character
   */
  public BuildOptions withValueSchema(@Nullable String valueSchema) {
    if (valueSchema != null) {
      ranged(
          "length of valueSchema",
          valueSchema.getBytes(StandardCharsets.UTF_8).length,
          1,
          MAX_VALUE_SCHEMA);
      if (valueSchema.indexOf('\n') >= 0
          || valueSchema.indexOf('\r') >= 0
          || valueSchema.indexOf('\0') >= 0) {
        throw new IllegalArgumentException("valueSchema contains a line break or a zero");
      }
    }
    return with(changed -> changed.valueSchema = valueSchema);
  }

  /** The elements of which all values consist; null if values are plain bytes or rows. */
  public @Nullable ValueElements valueElements() {
    return settings.valueElements;
  }

  /**
   * These options with other {@link #valueElements()}, which the database stores. Records with
   * values of another length are refused.
   */
  public BuildOptions withValueElements(@Nullable ValueElements valueElements) {
    return with(changed -> changed.valueElements = valueElements);
  }

  /**
   * The seed for key signatures, 0 by default. Builds are reproducible only with the same seed.
   * Anyone who knows the seed can construct colliding keys that make every build fail, so use a
   * random seed for untrusted keys.
   */
  public long seed() {
    return settings.seed;
  }

  /** These options with another {@link #seed()}. */
  public BuildOptions withSeed(long seed) {
    return with(changed -> changed.seed = seed);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof BuildOptions options
        && settings.all().equals(options.settings.all())
        && Objects.equals(settings.signingKey, options.settings.signingKey);
  }

  @Override
  public int hashCode() {
    return settings.all().hashCode();
  }

  @Override
  public String toString() {
    return "BuildOptions" + settings.all();
  }
}
