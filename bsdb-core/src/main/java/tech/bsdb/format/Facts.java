package tech.bsdb.format;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Layout;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.ValueElements;
import tech.bsdb.error.UnsupportedFormatException;

/**
 * The facts that a manifest states about its database, each with its type and range (FORMAT.md §6).
 * Their names appear in this class only.
 *
 * @param layout the layout of records in the data files, or null in an approximate database, which
 *     has none
 * @param records number of keys
 * @param duplicatesDropped number of records dropped in favor of another with the same key
 * @param keyBytes total bytes of all keys
 * @param valueBytes total bytes of all values
 * @param longestKey bytes of the longest key
 * @param longestValue bytes of the longest value
 * @param signature the algorithm of the signatures
 * @param hashSeed the seed of the signatures
 * @param hashBuckets number of buckets of the hash function
 * @param checksumBits checksum bits per slot, 0 to 32
 * @param approximateWidth bytes kept of each value, 0 in an exact database
 * @param shard number of this shard
 * @param shards number of shards, 1 for a whole database
 * @param zstdBlock raw bytes per compressed block, 0 without compression
 * @param zstdLevel the ZSTD compression level, 0 without compression
 * @param zstdLongest bytes of the longest frame of a block, 0 unless the layout is compressed
 * @param valueSchema the schema of the values if they are rows, otherwise null
 * @param valueElements the elements of the values if all are vectors of one kind, otherwise null
 * @param bins the bins of the packed layout, otherwise null
 * @param filter the filter of absent keys, or null if there is none
 * @param order the order of the keys, or null if there is none
 */
public record Facts(
    @Nullable Layout layout,
    long records,
    long duplicatesDropped,
    long keyBytes,
    long valueBytes,
    int longestKey,
    int longestValue,
    SignatureAlgorithm signature,
    long hashSeed,
    long hashBuckets,
    int checksumBits,
    int approximateWidth,
    int shard,
    int shards,
    int zstdBlock,
    int zstdLevel,
    int zstdLongest,
    @Nullable String valueSchema,
    @Nullable ValueElements valueElements,
    @Nullable Bins bins,
    @Nullable Filter filter,
    @Nullable Order order) {

  /**
   * The bins of the packed layout.
   *
   * @param count the number of bins
   * @param spanning whether bins may span pages to leave no gaps
   * @param sample the {@link BinSample} as text, or null if there is none
   */
  public record Bins(long count, boolean spanning, @Nullable String sample) {}

  /**
   * The order of the keys (FORMAT.md §16).
   *
   * @param levels the number of pages of each level of the tree, from the leaves up to the root;
   *     none if there are no records
   * @param place the widths of the addresses that the leaves hold; all 0 in a packed layout
   */
  public record Order(List<Long> levels, AddressBits place) {
    /** The most levels of a tree. */
    private static final int MOST_LEVELS = 48;

    private static final long MOST_PAGES = 1L << 39;

    /** Copies the list. */
    public Order {
      levels = List.copyOf(levels);
      if (levels.size() > MOST_LEVELS
          || !levels.stream().allMatch(pages -> pages > 0 && pages < MOST_PAGES)) {
        throw new IllegalArgumentException(ORDER_LEVELS + "=" + text(levels));
      }
    }

    /** The pages of all levels. */
    public long pages() {
      return levels.stream().mapToLong(Long::longValue).sum();
    }
  }

  /**
   * The filter of the packed layout.
   *
   * @param bits the length of a remainder, 1 to {@link #MOST_FILTER_BITS}
   * @param quotients the number of quotients, 1 to {@link #MOST_QUOTIENTS}
   */
  public record Filter(int bits, long quotients) {}

  // The names of the facts, in the order in which a manifest states them.
  private static final String FORMAT = "format";
  private static final String RECORDS = "records";
  private static final String DUPLICATES_DROPPED = "duplicates.dropped";
  private static final String KEY_BYTES = "bytes.key";
  private static final String VALUE_BYTES = "bytes.value";
  private static final String LONGEST_KEY = "longest.key";
  private static final String LONGEST_VALUE = "longest.value";
  private static final String LAYOUT = "layout";
  private static final String HASH_KIND = "hash.kind";
  private static final String SIGNATURE = "hash.signature";
  private static final String HASH_SEED = "hash.seed";
  private static final String HASH_BUCKETS = "hash.buckets";
  private static final String CHECKSUM_BITS = "hash.checksum.bits";
  private static final String INDEX_WIDTH = "index.width";
  private static final String SHARD_NUMBER = "shard.number";
  private static final String SHARD_COUNT = "shard.count";
  private static final String SHARD_HASH = "shard.hash";
  private static final String ZSTD_BLOCK = "zstd.block";
  private static final String ZSTD_LEVEL = "zstd.level";
  private static final String ZSTD_LONGEST = "zstd.longest";
  private static final String VALUE_SCHEMA = "value.schema";
  private static final String VALUE_ELEMENTS = "value.elements";
  private static final String BINS = "packed.bins";
  private static final String SPANNING = "packed.spanning";
  private static final String SAMPLE = "packed.sample";
  private static final String FILTER_BITS = "filter.bits";
  private static final String QUOTIENTS = "filter.quotients";
  private static final String ORDER_LEVELS = "order.levels";
  private static final String ORDER_PLACE = "order.place";

  /** The format of databases whose signatures are those of SpookyHash, and of sets of shards. */
  public static final int FORMAT_1 = 1;

  /** The format of databases that name the algorithm of their signatures. */
  public static final int FORMAT_2 = 2;

  /** The most bins of the packed layout. */
  public static final long MOST_BINS = 1L << 38;

  /** The most bits of a filter's remainders. */
  public static final int MOST_FILTER_BITS = 16;

  /** The most quotients of a filter. */
  public static final long MOST_QUOTIENTS = 1L << 37;

  /** The layout of an approximate database. */
  private static final String NO_LAYOUT = "none";

  /** The kind of the hash function of a layout that needs none. */
  public static final String NO_HASH = "none";

  /** The routing of keys if there is only one shard. */
  private static final String NO_SHARD_HASH = "none";

  /** The format version, which must be known before anything else is read. */
  public static long format(Manifest manifest) {
    return manifest.number(FORMAT);
  }

  /** The format version of this database. */
  public int format() {
    return signature == SignatureAlgorithm.SPOOKY ? FORMAT_1 : FORMAT_2;
  }

  private static SignatureAlgorithm signature(Path file, Manifest manifest)
      throws UnsupportedFormatException {
    if (format(manifest) == FORMAT_1) {
      return SignatureAlgorithm.SPOOKY;
    }
    requireKnown(file, "signatures by ", manifest.text(SIGNATURE), SignatureAlgorithm.MUM.id());
    return SignatureAlgorithm.MUM;
  }

  private static void requireKnown(Path file, String what, String name, String known)
      throws UnsupportedFormatException {
    if (!name.equals(known)) {
      throw new UnsupportedFormatException(file, what + name, known);
    }
  }

  /** The kind of the hash function, which must be known before the other facts. */
  public static String hashKind(Manifest manifest) {
    return manifest.text(HASH_KIND);
  }

  /**
   * Fails unless keys are routed to shards as this version does.
   *
   * @param file the manifest's file, for messages
   */
  static void requireRouting(Path file, Manifest manifest) throws UnsupportedFormatException {
    String routing = manifest.text(SHARD_HASH);
    if (shardCount(manifest, 1, Integer.MAX_VALUE) > 1) {
      requireKnown(file, "keys routed to shards by ", routing, KeySlots.NAME);
    }
  }

  /** The number of shards. */
  static int shardCount(Manifest manifest, int least, int most) {
    return small(manifest, SHARD_COUNT, least, most);
  }

  /** Creates the manifest of a set of shards, which are not listed yet. */
  static Manifest.Builder setManifest(String layout, long records, int shards) {
    return new Manifest.Builder()
        .put(FORMAT, FORMAT_1)
        .put(RECORDS, records)
        .put(LAYOUT, layout)
        .put(SHARD_COUNT, shards)
        .put(SHARD_HASH, KeySlots.NAME);
  }

  /** The name of the layout. */
  static String layoutName(Manifest manifest) {
    return manifest.text(LAYOUT);
  }

  /**
   * The layout, or null if there are no data files. It must be known before the other facts.
   *
   * @param file the manifest's file, for messages
   * @throws UnsupportedFormatException if this version does not read the layout
   */
  public static @Nullable Layout layout(Path file, Manifest manifest)
      throws UnsupportedFormatException {
    String name = layoutName(manifest);
    for (Layout layout : Layout.values()) {
      if (layout.id().equals(name)) {
        return layout;
      }
    }
    if (!name.equals(NO_LAYOUT)) {
      throw new UnsupportedFormatException(
          file,
          "layout " + name,
          Arrays.stream(Layout.values()).map(Layout::id).collect(Collectors.joining(", "))
              + ", "
              + NO_LAYOUT);
    }
    return null;
  }

  /** The name of a layout, or of none. */
  public static String layoutId(@Nullable Layout layout) {
    return layout == null ? NO_LAYOUT : layout.id();
  }

  /**
   * Reads all facts.
   *
   * @param file the manifest's file, for messages
   * @throws UnsupportedFormatException if this version does not read the layout, the signatures or
   *     the routing of keys
   * @throws IllegalArgumentException if a fact is missing, has the wrong type or is out of range
   */
  public static Facts of(Path file, Manifest manifest) throws UnsupportedFormatException {
    Layout layout = layout(file, manifest);
    SignatureAlgorithm signature = signature(file, manifest);
    requireRouting(file, manifest);
    boolean compressed = layout != null && layout.isCompressed();
    boolean approximate = layout == null;
    boolean packed = layout != null && layout.isPacked();
    int shards = shardCount(manifest, 1, ShardSet.MOST);
    return new Facts(
        layout,
        number(manifest, RECORDS, 0, 1L << 40),
        number(manifest, DUPLICATES_DROPPED, 0, Long.MAX_VALUE),
        number(manifest, KEY_BYTES, 0, Long.MAX_VALUE),
        number(manifest, VALUE_BYTES, 0, Long.MAX_VALUE),
        small(manifest, LONGEST_KEY, 0, RecordFrame.MAX_KEY),
        small(manifest, LONGEST_VALUE, 0, RecordFrame.MAX_VALUE),
        signature,
        number(manifest, HASH_SEED, Long.MIN_VALUE, Long.MAX_VALUE),
        number(manifest, HASH_BUCKETS, packed ? 0 : 1, packed ? 0 : 1L << 36),
        small(manifest, CHECKSUM_BITS, 0, 32),
        small(manifest, INDEX_WIDTH, approximate ? 1 : 0, approximate ? 255 : 0),
        small(manifest, SHARD_NUMBER, 0, shards - 1),
        shards,
        small(manifest, ZSTD_BLOCK, compressed ? 512 : 0, compressed ? 1 << 20 : 0),
        small(manifest, ZSTD_LEVEL, compressed ? 1 : 0, compressed ? 22 : 0),
        small(manifest, ZSTD_LONGEST, 0, compressed && !packed ? 1 << 21 : 0),
        manifest.textOrNull(VALUE_SCHEMA),
        ValueElements.parse(manifest.textOrNull(VALUE_ELEMENTS)),
        layout != null && packed ? bins(manifest, layout) : null,
        packed && manifest.textOrNull(FILTER_BITS) != null
            ? new Filter(
                small(manifest, FILTER_BITS, 1, MOST_FILTER_BITS),
                number(manifest, QUOTIENTS, 1, MOST_QUOTIENTS))
            : null,
        manifest.textOrNull(ORDER_LEVELS) != null ? order(manifest) : null);
  }

  private static Bins bins(Manifest manifest, Layout layout) {
    long count = number(manifest, BINS, 1, MOST_BINS);
    String sample = layout == Layout.PACKED ? manifest.textOrNull(SAMPLE) : null;
    BinSample unused = BinSample.read(count, manifest.dataPages(), sample); // fails if it is none
    return new Bins(count, small(manifest, SPANNING, 0, 1) == 1, sample);
  }

  private static Order order(Manifest manifest) {
    List<Long> levels = numbers(manifest, ORDER_LEVELS);
    List<Long> place = numbers(manifest, ORDER_PLACE);
    if (place.size() != 3) {
      throw new IllegalArgumentException(ORDER_PLACE + " with " + place.size() + " numbers");
    }
    return new Order(
        levels.equals(List.of(0L)) ? List.of() : levels,
        new AddressBits(bits(place.get(0)), bits(place.get(1)), bits(place.get(2))));
  }

  private static int bits(long number) {
    return (int) Math.max(-1, Math.min(Long.SIZE, number)); // out of range if it was
  }

  private static List<Long> numbers(Manifest manifest, String name) {
    return Arrays.stream(manifest.text(name).split(" ", -1)).map(Long::valueOf).toList();
  }

  private static String text(List<Long> numbers) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(" "));
  }

  /**
   * Creates a manifest with these facts and no files yet.
   *
   * @param hashKind the kind of the hash function
   */
  public Manifest.Builder manifest(String hashKind) {
    Manifest.Builder manifest =
        new Manifest.Builder()
            .put(FORMAT, format())
            .put(RECORDS, records)
            .put(DUPLICATES_DROPPED, duplicatesDropped)
            .put(KEY_BYTES, keyBytes)
            .put(VALUE_BYTES, valueBytes)
            .put(LONGEST_KEY, longestKey)
            .put(LONGEST_VALUE, longestValue)
            .put(LAYOUT, layoutId())
            .put(HASH_KIND, hashKind);
    if (format() != FORMAT_1) {
      manifest.put(SIGNATURE, signature.id());
    }
    manifest
        .put(HASH_SEED, hashSeed)
        .put(HASH_BUCKETS, hashBuckets)
        .put(CHECKSUM_BITS, checksumBits)
        .put(INDEX_WIDTH, approximateWidth)
        .put(SHARD_NUMBER, shard)
        .put(SHARD_COUNT, shards)
        .put(SHARD_HASH, shards == 1 ? NO_SHARD_HASH : KeySlots.NAME)
        .put(ZSTD_BLOCK, zstdBlock)
        .put(ZSTD_LEVEL, zstdLevel)
        .put(ZSTD_LONGEST, zstdLongest);
    if (bins != null) {
      manifest.put(BINS, bins.count).put(SPANNING, bins.spanning ? 1 : 0);
      if (bins.sample != null) {
        manifest.put(SAMPLE, bins.sample);
      }
    }
    if (filter != null) {
      manifest.put(FILTER_BITS, filter.bits).put(QUOTIENTS, filter.quotients);
    }
    if (order != null) {
      AddressBits place = order.place;
      manifest
          .put(ORDER_LEVELS, order.levels.isEmpty() ? "0" : text(order.levels))
          .put(ORDER_PLACE, place.file() + " " + place.offset() + " " + place.detail());
    }
    if (valueSchema != null) {
      manifest.put(VALUE_SCHEMA, valueSchema);
    }
    if (valueElements != null) {
      manifest.put(VALUE_ELEMENTS, valueElements.toString());
    }
    return manifest;
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

  /** The name of the layout. */
  public String layoutId() {
    return layoutId(layout);
  }

  /**
   * The layout of records in the data files.
   *
   * @throws IllegalStateException if there are none
   */
  public Layout requireLayout() {
    if (layout == null) {
      throw new IllegalStateException("an approximate database has no data files");
    }
    return layout;
  }

  /** Whether the index holds the values. */
  public boolean approximate() {
    return layout == null;
  }

  /** Whether records lie in bins, in the order of their signatures. */
  public boolean packed() {
    return layout != null && layout.isPacked();
  }

  /**
   * The bins of the packed layout.
   *
   * @throws IllegalStateException if the layout has none
   */
  public Bins requireBins() {
    if (bins == null) {
      throw new IllegalStateException("the layout " + layoutId() + " has no bins");
    }
    return bins;
  }

  /** Whether records are stored in compressed blocks. */
  public boolean compressed() {
    return layout != null && layout.isCompressed();
  }

  /** The packing of record addresses. */
  public RecordAddress addresses() {
    return RecordAddress.of(layout, Math.max(2, zstdBlock));
  }
}
