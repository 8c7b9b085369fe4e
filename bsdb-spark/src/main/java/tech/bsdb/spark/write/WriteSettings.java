package tech.bsdb.spark.write;

import java.io.Serializable;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.Layout;
import tech.bsdb.spark.options.OptionValues;
import tech.bsdb.store.VersionName;

/**
 * What to write, from the options of a DataFrameWriter or the properties of a table. Immutable.
 *
 * @param path the store
 * @param keys the key columns, at least one
 * @param keyJoin the text between several key columns; null for one
 * @param columns the columns of the row; empty for all
 * @param raw the column whose bytes are the value, or null for a row
 * @param orderBy the column by which the first or last of duplicates is known, or null
 * @param skipBadRows whether rows that cannot become records are left out and counted
 * @param allowEmptyKey whether empty keys are allowed
 * @param shards the number of shards
 * @param layout how records are stored
 * @param hash the hash function
 * @param ordered whether the order of the keys is stored
 * @param numbers further build options
 * @param onDuplicate what to do with duplicate keys
 * @param seed the seed of the signatures
 * @param version the name of the version, or null for the time
 * @param keep how many versions to keep besides the new one, or -1 for all
 * @param report the file for a report in JSON, or null
 * @param temporaryDirectory where executors build, or null for Spark's own local directories
 */
record WriteSettings(
    String path,
    List<String> keys,
    @Nullable String keyJoin,
    List<String> columns,
    @Nullable String raw,
    @Nullable String orderBy,
    boolean skipBadRows,
    boolean allowEmptyKey,
    int shards,
    Layout layout,
    HashAlgorithm hash,
    boolean ordered,
    Numbers numbers,
    DuplicatePolicy onDuplicate,
    long seed,
    @Nullable String version,
    int keep,
    @Nullable String report,
    @Nullable String temporaryDirectory)
    implements Serializable {
  private static final long MEBIBYTE = 1L << 20;

  /** By default, tasks share an executor, whose memory is not for one of them alone. */
  private static final int MEMORY_MB = 256;

  /** The options that are numbers. */
  record Numbers(
      int approximateWidth,
      int checksumBits,
      int filterBits,
      int blockSize,
      int level,
      int sampleRecords,
      int dictionaryBytes,
      int dataFiles,
      int memoryMb,
      int uploadThreads)
      implements Serializable {}

  /**
   * Reads the options.
   *
   * @throws IllegalArgumentException if one is wrong or missing, or two conflict
   */
  static WriteSettings of(OptionValues options) {
    BuildOptions defaults = BuildOptions.defaults();
    String path = options.text("path");
    if (path == null || path.isBlank()) {
      throw new IllegalArgumentException(
          "no store to write to: name it as in save(\"hdfs://namenode:8020/stores/users\")");
    }
    List<String> keys = options.keys();
    if (keys.isEmpty()) {
      throw new IllegalArgumentException(
          "no key column given; for example: .option(\"key\", \"user_id\")");
    }
    boolean ordered = options.flag("ordered");
    int approximateWidth = options.integer("approximateWidth", 0, 255, 0);
    boolean hashed = options.text("hash") != null || options.text("checksumBits") != null;
    BuildOptions kind = defaults.withOrderedKeys(ordered).withApproximateWidth(approximateWidth);
    Layout usual = hashed ? Layout.BLOCKED : kind.layout();
    Layout layout = options.choice("layout", Layout.class, usual);
    DuplicatePolicy onDuplicate =
        options.choice("onDuplicate", DuplicatePolicy.class, DuplicatePolicy.ERROR);
    WriteSettings settings =
        new WriteSettings(
            path,
            keys,
            options.keyJoin(),
            options.names("columns"),
            options.text("value"),
            options.text("orderBy"),
            options.choice("onBadRow", OnBadRow.class, OnBadRow.FAIL) == OnBadRow.SKIP,
            options.flag("allowEmptyKey"),
            options.integer("shards", 1, 16_384, 1),
            layout,
            options.choice("hash", HashAlgorithm.class, defaults.hash()),
            ordered,
            new Numbers(
                approximateWidth,
                options.integer("checksumBits", 0, 32, defaults.checksumBits()),
                options.integer("filterBits", 0, 16, defaults.filterBits()),
                options.integer("blockSize", 512, 1 << 20, defaults.blockSize()),
                options.integer("level", 1, 22, defaults.compressionLevel()),
                options.integer("sampleRecords", 0, 1_000_000, defaults.sampleRecords()),
                options.integer("dictionaryBytes", 0, 1 << 20, defaults.dictionaryBytes()),
                options.integer("dataFiles", 1, 128, defaults.dataFiles()),
                options.integer("memoryMb", 1, 1 << 20, MEMORY_MB),
                options.integer("uploadThreads", 1, 64, 4)),
            onDuplicate,
            "random".equals(options.text("seed"))
                ? new SecureRandom().nextLong()
                : options.number("seed", 0),
            options.text("version"),
            options.integer("keep", 0, 1_000_000, -1),
            options.text("report"),
            options.text("temporaryDirectory"));
    settings.check();
    settings.requireEffect(options);
    return settings;
  }

  /** What to do with a row that cannot become a record. */
  enum OnBadRow {
    FAIL,
    SKIP
  }

  private void check() {
    if (raw != null && !columns.isEmpty()) {
      throw new IllegalArgumentException(
          "value and columns cannot be combined: the value is one column's bytes, or a row");
    }
    if (onDuplicate != DuplicatePolicy.ERROR && orderBy == null) {
      throw new IllegalArgumentException(
          "onDuplicate "
              + onDuplicate.name().toLowerCase(Locale.ROOT)
              + " needs orderBy with the column that decides, because rows have no order in Spark;"
              + " for example: .option(\"orderBy\", \"updated_at\")");
    }
    if (onDuplicate == DuplicatePolicy.ERROR && orderBy != null) {
      throw new IllegalArgumentException(
          "orderBy decides between duplicates: it needs onDuplicate first or last");
    }
    if (numbers.filterBits > 0 && (!layout.isPacked() || numbers.approximateWidth > 0)) {
      throw new IllegalArgumentException(
          "filterBits goes with the layouts packed and packed-compressed; other layouts have"
              + " checksumBits instead");
    }
    if (ordered && numbers.approximateWidth > 0) {
      throw new IllegalArgumentException(
          "ordered and approximateWidth cannot be combined: an approximate database keeps no keys"
              + " that could be ordered");
    }
    if (version != null && !VersionName.isValid(version)) {
      throw new IllegalArgumentException(
          "version " + version + ": a version cannot have this name; use letters, digits, . _ -");
    }
  }

  /** Fails if an option is given that has no effect. */
  private void requireEffect(OptionValues options) {
    if (numbers.approximateWidth > 0) {
      refuse(
          options,
          List.of("layout", "dataFiles"),
          "and approximateWidth cannot be combined: an approximate database keeps no records");
    }
    if (layout.isPacked()) {
      refuse(
          options,
          List.of("hash", "checksumBits"),
          "has no effect in the layout " + layout.id() + ", which has no hash function");
    }
    if (!layout.isCompressed()) {
      refuse(
          options,
          List.of("blockSize", "level", "sampleRecords", "dictionaryBytes"),
          "needs a layout that compresses: compressed or packed-compressed");
    }
  }

  private static void refuse(OptionValues options, List<String> names, String why) {
    for (String name : names) {
      if (options.text(name) != null) {
        throw new IllegalArgumentException(name + " " + why);
      }
    }
  }

  /** Whether the value is a row with a schema. */
  boolean typed() {
    return raw == null;
  }

  /** The longest value, since a longer row would be cut. */
  int mostValueBytes() {
    return typed() && numbers.approximateWidth > 0 ? numbers.approximateWidth : Integer.MAX_VALUE;
  }

  /**
   * Whether Spark sorts the records of a shard, because its build does not put them in order: it
   * compresses them, or the order decides which of several with the same key it keeps.
   */
  boolean sorted() {
    return layout.isCompressed() || onDuplicate != DuplicatePolicy.ERROR;
  }

  /**
   * Whether records with similar keys should be neighbors, because they are compressed together.
   */
  boolean neighborsByKey() {
    return layout == Layout.COMPRESSED;
  }

  /**
   * The options of the build of one shard.
   *
   * @param schema the schema of the rows, or null
   * @param temporary where to put temporary files
   */
  BuildOptions build(int shard, @Nullable String schema, int threads, Path temporary) {
    BuildOptions build =
        BuildOptions.defaults()
            .withLayout(layout)
            .withHash(hash)
            .withOrderedKeys(ordered)
            .withApproximateWidth(numbers.approximateWidth)
            .withChecksumBits(numbers.checksumBits)
            .withFilterBits(numbers.filterBits)
            .withBlockSize(numbers.blockSize)
            .withCompressionLevel(numbers.level)
            .withSampleRecords(numbers.sampleRecords)
            .withDictionaryBytes(numbers.dictionaryBytes)
            .withDataFiles(numbers.dataFiles)
            .withMemoryBytes(MEBIBYTE * numbers.memoryMb)
            .withThreads(threads)
            .withDuplicates(onDuplicate)
            .withSignatureOrder(!sorted())
            .withSeed(seed)
            .withValueSchema(schema)
            .withTemporaryDirectory(temporary)
            .withShards(shards);
    return shards == 1 ? build : build.withOnlyShard(shard);
  }
}
