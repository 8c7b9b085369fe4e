package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.ChangeCounts;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;

/** Writes the records of a build into its directory. Not thread-safe. */
public sealed interface BuildOutput extends Closeable
    permits DatabaseWriter, MergeWriter, OneShardWriter, ShardSetWriter {
  /**
   * What a build has written into its directory.
   *
   * @param id the id of the database
   * @param records the number of records added
   * @param keys the number of keys that lookups find
   * @param valuesCut the number of values that were truncated
   * @param keyBytes total bytes of the keys added
   * @param valueBytes total bytes of the values added
   * @param fileBytes the size of each file by name, in the order written
   * @param dictionaryBytes the size of the dictionary, 0 for none
   * @param changes what became of the base and the changes, or null without a base
   */
  record Written(
      DatabaseId id,
      long records,
      long keys,
      long valuesCut,
      long keyBytes,
      long valueBytes,
      Map<String, Long> fileBytes,
      long dictionaryBytes,
      @Nullable ChangeCounts changes) {
    /** The same with what became of the base and the changes. */
    Written with(ChangeCounts counted) {
      return new Written(
          id, records, keys, valuesCut, keyBytes, valueBytes, fileBytes, dictionaryBytes, counted);
    }
  }

  /**
   * Creates the output of a build without a base.
   *
   * @param chunk write buffer of all files. The caller closes it, after the output
   */
  static BuildOutput of(BuildOptions options, BuildPlace place, ChunkBuffer chunk)
      throws IOException {
    if (options.shards() == 1) {
      return new DatabaseWriter(options, place, chunk, 0);
    }
    return options.onlyShard().isPresent()
        ? new OneShardWriter(options, place, chunk, options.onlyShard().getAsInt())
        : new ShardSetWriter(options, place, chunk, new ShardSetWriter.NewShards(options, chunk));
  }

  /** Whether the database has one of the packed layouts. */
  static boolean isPacked(BuildOptions options) {
    return options.approximateWidth() == 0 && options.layout().isPacked();
  }

  /** Whether the records of the database are compressed. */
  static boolean isCompressed(BuildOptions options) {
    return options.approximateWidth() == 0 && options.layout().isCompressed();
  }

  /** Fails if an option would have no effect in the kind of database that is to be built. */
  static void requirePlaces(BuildOptions options) {
    boolean approximate = options.approximateWidth() > 0;
    String kind = approximate ? "an approximate database" : "the layout " + options.layout().id();
    if (isPacked(options)) {
      requireUsual(
          options,
          BuildOptions::hash,
          "hash",
          "a packed database has no hash function: leave it as it is, or choose another layout");
      requireUsual(
          options,
          BuildOptions::checksumBits,
          "checksumBits",
          "a packed index has none: set filterBits, or choose another layout");
    } else {
      requireUsual(
          options,
          BuildOptions::filterBits,
          "filterBits",
          kind
              + " has checksum bits in its hash function instead: set checksumBits, or choose a"
              + " packed layout");
    }
    if (!isCompressed(options)) {
      String none = kind + " compresses nothing: leave it as it is, or choose a compressed layout";
      requireUsual(options, BuildOptions::blockSize, "blockSize", none);
      requireUsual(options, BuildOptions::compressionLevel, "compressionLevel", none);
      if (options.dictionaryBytes() > 0 && options.sampleRecords() > 0) { // else none is asked for
        requireUsual(options, BuildOptions::dictionaryBytes, "dictionaryBytes", none);
        requireUsual(options, BuildOptions::sampleRecords, "sampleRecords", none);
      }
    }
    if (approximate) {
      requireUsual(options, BuildOptions::layout, "layout", kind + " has none: leave it as it is");
      requireUsual(
          options, BuildOptions::dataFiles, "dataFiles", kind + " has none: leave it as it is");
    }
    if (options.valueElements() != null && (approximate || options.valueSchema() != null)) {
      String other = approximate ? "approximateWidth" : "valueSchema";
      throw new IllegalArgumentException(
          "valueElements and " + other + " are set: leave out one of them");
    }
  }

  private static void requireUsual(
      BuildOptions options, Function<BuildOptions, Object> property, String name, String why) {
    Object value = property.apply(options);
    BuildOptions usual = BuildOptions.defaults().withApproximateWidth(options.approximateWidth());
    if (!value.equals(property.apply(usual))) {
      throw new IllegalArgumentException(name + " is " + value + ", but " + why);
    }
  }

  /** Fails if the order of keys is to be stored of an approximate database, which has no keys. */
  static void requireKeysForOrder(BuildOptions options) {
    if (options.orderedKeys() && options.approximateWidth() > 0) {
      throw new IllegalArgumentException(
          "orderedKeys is set, but an approximate database keeps no keys that could be ordered");
    }
  }

  /** Fails if records are to be in the order of their signatures, but also to be compressed. */
  static void requireOrder(BuildOptions options) {
    if (options.signatureOrder() && isCompressed(options)) {
      throw new IllegalArgumentException(
          "signatureOrder goes with layouts that do not compress records, but the layout is "
              + options.layout().id());
    }
  }

  /**
   * Adds a sample record for training the dictionary.
   *
   * @throws IllegalStateException if a record was added before
   */
  void sample(byte[] key, byte[] value);

  /** Adds a record. */
  void add(FramedRecord record) throws IOException;

  /**
   * Writes everything that lookups need, forces all files to the device and closes them. Called
   * once, after the last record.
   *
   * @throws tech.bsdb.error.DuplicateKeyException if a key was added twice and the options do not
   *     say which record to keep
   */
  Written finish(AssemblyProgress progress) throws IOException;

  /** Closes all files, and deletes those that were not finished. */
  @Override
  void close() throws IOException;

  /** Closes all resources of a build; a failure says what it means for it. */
  static void closeFiles(Resources opened) throws IOException {
    try {
      opened.close();
    } catch (IOException | RuntimeException e) {
      throw new IOException("a file of the build could not be closed: " + e.getMessage(), e);
    }
  }
}
