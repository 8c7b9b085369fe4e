package tech.bsdb;

import tech.bsdb.format.BlockFrame;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.PageSource;
import tech.bsdb.write.BuildOutput;
import tech.bsdb.write.SizePlan;

/**
 * What a database will take before it is built: disk, memory, temporary files, and the reads of a
 * lookup. Immutable and thread-safe.
 *
 * <p>The figures follow from the file format, for records of equal length with distinct keys. They
 * are exact for the blocked and the compact layout and for approximate mode, with one data file and
 * without a schema; with {@link HashAlgorithm#PTR}, whose parts differ in size, the hash function
 * takes as much within a page or 0.05 %. If lengths vary, pass the averages: in the compact and the
 * packed layout only the average length counts; in the blocked layout, the space left at the ends
 * of pages depends on the lengths themselves. The size of the packed layout is an expected value,
 * within a percent or a page. The sizes of the compressed layouts follow from a compression ratio
 * that the caller has measured. The order of the keys, if it is stored, takes as much as the plan
 * says if keys are random bytes, within a few percent, and less if they begin alike.
 *
 * @param options the options of the database
 * @param records the number of records
 * @param dataBytes size of the data files in bytes
 * @param hashBytes size of the hash function's file in bytes; 0 in the packed layout
 * @param indexBytes size of the index file in bytes
 * @param filterBytes size of the filter's file in bytes; 0 without a filter
 * @param orderBytes size of the order of the keys in bytes, at most; 0 if it is not stored. Keys
 *     that begin alike take less ({@link BuildOptions#orderedKeys})
 * @param databaseBytes total size of all files in bytes; in the compressed layout with the largest
 *     dictionary, and with {@link #orderBytes}
 * @param lookupMemoryBytes bytes of memory that every lookup touches first: the hash function's
 *     file in the page cache and its table on the heap, if it has one; or the index of the packed
 *     layout on the heap and its filter off the heap. Lookups in mapped or loaded data files do
 *     without the filter
 * @param pageCacheBytes bytes of page cache that hold all that mapped lookups read. In the packed
 *     layout, the index is on the heap instead, and the filter is not read. Lookups do not read the
 *     order of the keys
 * @param heapBytes heap of an open database that grows with its size, in bytes: one bit for each
 *     page, the index of the packed layout, the table of the hash function {@link HashAlgorithm#PTR
 *     ptr}, the ZSTD dictionary, and once ranges are read, the nodes above the leaves of the order
 *     of the keys
 * @param temporaryBytes size of the build's temporary files in bytes, at most
 * @param peakDiskBytes size of the new files and the temporary files at one time in bytes, at most.
 *     A database to be replaced takes its own size in addition
 * @param buildMemoryBytes memory of the build's partitions and passes in bytes, besides write
 *     buffers, parsed batches and Java itself
 * @param presentReads reads from the device that a lookup of a present key makes when only {@link
 *     #lookupMemoryBytes} is in memory: of the index and of the data
 * @param absentReads the same for an absent key, on average. Checksum bits, and in the packed
 *     layout a filter, reject most absent keys without a read
 * @param presentPages pages that the reads of a present key fetch, on average
 * @param absentPages pages that the reads of an absent key fetch, on average
 */
public record LayoutPlan(
    BuildOptions options,
    long records,
    long dataBytes,
    long hashBytes,
    long indexBytes,
    long filterBytes,
    long orderBytes,
    long databaseBytes,
    long lookupMemoryBytes,
    long pageCacheBytes,
    long heapBytes,
    long temporaryBytes,
    long peakDiskBytes,
    long buildMemoryBytes,
    double presentReads,
    double absentReads,
    double presentPages,
    double absentPages) {
  /** The most records of a database. */
  public static final long MAX_RECORDS = 1L << 40;

  private static final long MAX_BYTES = 1L << 55;

  /**
   * Plans a database, for the compressed layout on the assumption that nothing compresses.
   *
   * @param options the database to build; those on duplicates, schemas and directories are ignored
   * @param records the number of records, 0 to {@link #MAX_RECORDS}
   * @param keyLength the length of a key, 0 to {@link RecordBatch#MAX_KEY_LENGTH}
   * @param valueLength the length of a value, 0 to {@link RecordBatch#MAX_VALUE_LENGTH}
   * @throws IllegalArgumentException if a number is out of range, the layout cannot hold so much,
   *     or it cannot have the filter or the order of keys of the options
   */
  public static LayoutPlan of(BuildOptions options, long records, int keyLength, int valueLength) {
    return of(options, records, keyLength, valueLength, 0);
  }

  /**
   * Plans a database.
   *
   * @param compressionRatio the bytes of all keys and values, divided by the size of the compressed
   *     data files; 0 if nothing compresses. The {@link Statistics} of a sample in the compressed
   *     layout have both: {@code (keyBytes + valueBytes) / dataBytes}. Other layouts ignore it
   * @throws IllegalArgumentException as {@link #of(BuildOptions, long, int, int)}
   */
  public static LayoutPlan of(
      BuildOptions options, long records, int keyLength, int valueLength, double compressionRatio) {
    BuildOptions.ranged("records", records, 0, MAX_RECORDS);
    BuildOptions.ranged("keyLength", keyLength, 0, RecordBatch.MAX_KEY_LENGTH);
    BuildOptions.ranged("valueLength", valueLength, 0, RecordBatch.MAX_VALUE_LENGTH);
    if (!(compressionRatio >= 0 && compressionRatio < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("compressionRatio is " + compressionRatio);
    }
    if ((double) records * RecordFrame.length(keyLength, valueLength) > MAX_BYTES) {
      throw new IllegalArgumentException("no database holds more than 32 PiB of records");
    }
    BuildOutput.requirePlaces(options);
    BuildOutput.requireKeysForOrder(options);
    SizePlan.Records given = new SizePlan.Records(records, keyLength, valueLength);
    double raw = (double) records * ((long) keyLength + valueLength);
    long compressed = compressionRatio == 0 ? -1 : (long) Math.ceil(raw / compressionRatio);
    int dictionary = options.sampleRecords() > 0 ? options.dictionaryBytes() : 0;
    SizePlan sizes = SizePlan.of(options, given, compressed, dictionary);
    long length = RecordFrame.length(keyLength, valueLength);
    Lookups lookups = new Lookups(options, records, length, compressionRatio, sizes);
    long pageCache = sizes.dataBytes() + sizes.hashBytes();
    if (!lookups.packed()) {
      pageCache += sizes.indexBytes();
    }
    return new LayoutPlan(
        options,
        records,
        sizes.dataBytes(),
        sizes.hashBytes(),
        sizes.indexBytes(),
        sizes.filterBytes(),
        sizes.orderBytes(),
        sizes.databaseBytes(),
        sizes.hashBytes() + sizes.pinnedBytes() + sizes.filterBytes(),
        pageCache,
        sizes.pinnedBytes()
            + sizes.dictionaryBytes()
            + sizes.orderHeapBytes()
            + (pageCache + sizes.orderBytes()) / Page.SIZE / Byte.SIZE,
        sizes.temporaryBytes(),
        sizes.peakBytes(),
        sizes.memoryBytes(),
        lookups.presentReads(),
        lookups.absentReads(),
        lookups.presentPages(),
        lookups.absentPages());
  }

  /**
   * The reads of the lookups in a database.
   *
   * @param length the length of each record
   */
  private record Lookups(
      BuildOptions options, long records, long length, double compressionRatio, SizePlan sizes) {
    boolean packed() {
      return BuildOutput.isPacked(options);
    }

    private boolean approximate() {
      return options.approximateWidth() > 0;
    }

    double presentReads() {
      if (approximate()) {
        return 1;
      }
      return switch (options.layout()) {
        case PACKED, PACKED_COMPRESSED -> runs(dataPages(true));
        case BLOCKED, COMPACT -> 1 + runs(dataPages(true));
        case COMPRESSED -> 2 + furtherReads();
      };
    }

    double absentReads() {
      if (packed()) {
        return passing() * runs(passingPages());
      }
      return passing() * (storedLong() ? 2 : presentReads());
    }

    double presentPages() {
      return (packed() ? 0 : 1) + dataPages(true);
    }

    double absentPages() {
      if (packed()) {
        return passing() * passingPages();
      }
      return passing() * (storedLong() ? 2 : presentPages());
    }

    /** Whether a block holds one long record: its first page says how many more pages to read. */
    private boolean longBlocks() {
      return BuildOutput.isCompressed(options) && !packed() && length > options.blockSize();
    }

    /** Reads after the first one of a long block, on average; none if the first page holds it. */
    private double furtherReads() {
      return longBlocks() ? Math.min(dataPages(true) - 1, runs(dataPages(true) - 1)) : 0;
    }

    /** Whether long records are stored as they are, so that the first page shows a wrong key. */
    private boolean storedLong() {
      return longBlocks() && compressionRatio <= 1;
    }

    /** The share of absent keys that neither checksum bits nor a filter reject. */
    private double passing() {
      if (packed()) { // each record has the key's quotient and remainder by chance
        int bits = options.filterBits();
        double quotients = Math.max(1, records);
        return bits == 0 ? 1 : 1 - Math.pow(1 - Math.pow(0.5, bits) / quotients, (double) records);
      }
      return Math.pow(0.5, options.checksumBits());
    }

    /**
     * Pages of an absent key that is not rejected; if by a filter, its bin most likely has a
     * record.
     */
    private double passingPages() {
      return dataPages(options.filterBits() > 0);
    }

    private static double runs(double pages) {
      return Math.max(1, pages / PageSource.MAX_RUN);
    }

    /** Pages of data that a lookup reads, on average. */
    private double dataPages(boolean present) {
      if (approximate()) {
        return 0;
      }
      return switch (options.layout()) {
        case BLOCKED -> Math.ceil((double) length / Page.PAYLOAD);
        case COMPACT -> straddled((double) length);
        case COMPRESSED -> straddled(blockBytes());
        case PACKED, PACKED_COMPRESSED -> binPages(present);
      };
    }

    /** Pages that bytes at a random place touch, on average. */
    private static double straddled(double bytes) {
      return 1 + Math.max(0, bytes - 1) / Page.PAYLOAD;
    }

    /** A lookup reads as much as the longest block may take. */
    private double blockBytes() {
      long raw = Math.max(1, options.blockSize() / length) * length;
      return BlockFrame.MAX + raw / Math.max(1, compressionRatio);
    }

    /** A bin that may span pages is read up to the page in which the next one starts. */
    private double binPages(boolean present) {
      if (!sizes.spanning() || records == 0) {
        return 1;
      }
      double others = (double) records / sizes.bins();
      double perPage = (double) records * length * Page.SIZE / sizes.dataBytes();
      return 1 + (others + (present ? 1 : 0)) * length / perPage;
    }
  }
}
