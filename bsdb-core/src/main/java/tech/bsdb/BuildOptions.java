package tech.bsdb;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Layout;

/**
 * What a build makes and what it may use: an immutable value, changed by the {@code with} methods.
 *
 * <p>Every option that changes the bytes of the database is stored in its manifest; memory,
 * threads, and the temporary directory change nothing but the time a build takes.
 *
 * @param layout how records lie in the data files; ignored in approximate mode
 * @param checksumBits bits per key that let the hash function refuse absent keys, 0 to 32: a share
 *     of 2^-bits of them passes (and is refused later by comparing keys, except in approximate
 *     mode)
 * @param approximateWidth 0 for an exact database; 1 to 255 for an approximate one, which keeps no
 *     keys and at most this many bytes of each value
 * @param blockSize raw bytes gathered in one compressed block, 512 to 1,048,576; 1024 by default
 * @param compressionLevel ZSTD level, 1 to 22
 * @param dictionaryBytes size of the trained ZSTD dictionary, 0 (none) to 1,048,576
 * @param sampleRecords records sampled to train the dictionary, 0 (none) to 1,000,000
 * @param dataFiles number of data files, 1 to 128
 * @param memoryBytes memory that the passes of the index stage may use, at least 1 MiB
 * @param threads worker threads, 1 to 256
 * @param duplicates what to do with a key that comes twice
 * @param overwrite whether an existing database at the target is replaced
 * @param temporaryDirectory where signatures wait to be sorted, or null for the target's own file
 *     system
 * @param valueSchema the schema of the values where they are rows in Avro's binary encoding: JSON
 *     without line ends, at most {@link #MAX_VALUE_SCHEMA} bytes; null where values are bytes. It
 *     is stored as it is; that the values are such rows is the caller's to see to
 * @param seed of the keys' signatures, 0 by default. The same records and options give the same
 *     bytes with the same seed only. Whoever knows the seed can make keys that collide, so that no
 *     build that has them succeeds: where keys come from strangers, take a random one
 */
public record BuildOptions(
    Layout layout,
    int checksumBits,
    int approximateWidth,
    int blockSize,
    int compressionLevel,
    int dictionaryBytes,
    int sampleRecords,
    int dataFiles,
    long memoryBytes,
    int threads,
    DuplicatePolicy duplicates,
    boolean overwrite,
    @Nullable Path temporaryDirectory,
    @Nullable String valueSchema,
    long seed) {

  /** Width of a value in an approximate database unless another is asked for, in bytes. */
  public static final int DEFAULT_APPROXIMATE_WIDTH = 8;

  /** Bytes of the longest schema of values, in UTF-8. */
  public static final int MAX_VALUE_SCHEMA = 8 << 20;

  /**
   * Checks every range.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public BuildOptions {
    check("checksumBits", checksumBits, 0, 32);
    check("approximateWidth", approximateWidth, 0, 255);
    check("blockSize", blockSize, 512, 1 << 20);
    check("compressionLevel", compressionLevel, 1, 22);
    check("dictionaryBytes", dictionaryBytes, 0, 1 << 20);
    check("sampleRecords", sampleRecords, 0, 1_000_000);
    check("dataFiles", dataFiles, 1, 128);
    check("memoryBytes", memoryBytes, 1 << 20, Long.MAX_VALUE);
    check("threads", threads, 1, 256);
    if (layout == Layout.NONE) {
      throw new IllegalArgumentException(
          "layout NONE is what approximateWidth > 0 makes; choose another");
    }
    if (valueSchema != null) {
      checkSchema(valueSchema);
    }
  }

  private static void checkSchema(String schema) {
    check(
        "length of valueSchema",
        schema.getBytes(StandardCharsets.UTF_8).length,
        1,
        MAX_VALUE_SCHEMA);
    if (schema.indexOf('\n') >= 0 || schema.indexOf('\r') >= 0 || schema.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("valueSchema has a line end or a zero; leave them out");
    }
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + ", not in " + least + " to " + most);
    }
  }

  /** Blocked, exact, 4 checksum bits, 1 GiB for the index passes, all cores, duplicates refused. */
  public static BuildOptions defaults() {
    return new BuildOptions(
        Layout.BLOCKED,
        4,
        0,
        1024,
        6,
        112_640,
        10_000,
        1,
        1L << 30,
        Math.min(256, Runtime.getRuntime().availableProcessors()),
        DuplicatePolicy.ERROR,
        false,
        null,
        null,
        0);
  }

  /** These options with another {@link #layout()}. */
  public BuildOptions withLayout(Layout layout) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #checksumBits()}. */
  public BuildOptions withChecksumBits(int checksumBits) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #approximateWidth()}. */
  public BuildOptions withApproximateWidth(int approximateWidth) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #blockSize()}. */
  public BuildOptions withBlockSize(int blockSize) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #compressionLevel()}. */
  public BuildOptions withCompressionLevel(int compressionLevel) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #dictionaryBytes()}. */
  public BuildOptions withDictionaryBytes(int dictionaryBytes) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #sampleRecords()}. */
  public BuildOptions withSampleRecords(int sampleRecords) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #dataFiles()}. */
  public BuildOptions withDataFiles(int dataFiles) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #memoryBytes()}. */
  public BuildOptions withMemoryBytes(long memoryBytes) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #threads()}. */
  public BuildOptions withThreads(int threads) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #duplicates()}. */
  public BuildOptions withDuplicates(DuplicatePolicy duplicates) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #overwrite()}. */
  public BuildOptions withOverwrite(boolean overwrite) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #temporaryDirectory()}. */
  public BuildOptions withTemporaryDirectory(@Nullable Path temporaryDirectory) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #valueSchema()}. */
  public BuildOptions withValueSchema(@Nullable String valueSchema) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }

  /** These options with another {@link #seed()}. */
  public BuildOptions withSeed(long seed) {
    return new BuildOptions(
        layout,
        checksumBits,
        approximateWidth,
        blockSize,
        compressionLevel,
        dictionaryBytes,
        sampleRecords,
        dataFiles,
        memoryBytes,
        threads,
        duplicates,
        overwrite,
        temporaryDirectory,
        valueSchema,
        seed);
  }
}
