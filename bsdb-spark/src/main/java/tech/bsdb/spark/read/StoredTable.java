package tech.bsdb.spark.read;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.spark.options.OptionValues;
import tech.bsdb.spark.options.OptionWording;
import tech.bsdb.spark.rows.SparkTypes;
import tech.bsdb.store.Store;
import tech.bsdb.tools.cli.NearestName;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.Inventory;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * What a location held at one moment: the current version of a store, a database or a set of
 * shards. Immutable.
 *
 * @param options the options of the table
 * @param version the name of the version; null if the location is not a store
 * @param approximate whether the keys are not stored
 * @param ordered whether the order of the keys is stored
 * @param shards the number of shards of the whole set; 1 for an undivided database
 * @param places the databases
 * @param rows the schema of rows as JSON; null if values are plain bytes
 * @param schema all columns
 */
record StoredTable(
    ReadOptions options,
    @Nullable String version,
    boolean approximate,
    boolean ordered,
    int shards,
    List<ShardPlace> places,
    @Nullable String rows,
    StructType schema) {
  /** The column of keys, of a database without rows. */
  static final String KEY = "key";

  /** The column of values, of a database without rows. */
  static final String VALUE = "value";

  /** A person may wait for a plan. */
  private static final int ATTEMPTS = 3;

  private static final Duration PAUSE = Duration.ofMillis(500);

  /** Copies the list. */
  StoredTable {
    places = List.copyOf(places);
  }

  /**
   * Looks at what a location holds now.
   *
   * @throws IllegalArgumentException if it holds nothing that can be a table
   * @throws UncheckedIOException if it cannot be read
   */
  static StoredTable find(ReadOptions options, Configuration configuration) {
    String location = options.location();
    try (DistantDirectory directory = DistantDirectory.open(location, configuration)) {
      requireDirectory(directory);
      TransferOptions transfer = TransferOptions.defaults().withAttempts(ATTEMPTS, PAUSE);
      Shipment shipment = Store.offered(directory, transfer, () -> {});
      Inventory inventory = Inventory.read(directory, shipment, transfer, () -> {});
      List<ShardPlace> places = new ArrayList<>();
      for (Inventory.Item item : inventory.items()) {
        String at = shipment.directory(item.part());
        places.add(
            new ShardPlace(
                location, at, item.part().id(), item.shard(), item.records(), item.bytes()));
      }
      return new StoredTable(
          options,
          shipment.version(),
          inventory.approximate(),
          inventory.ordered(),
          inventory.shards(),
          places,
          inventory.valueSchema(),
          schema(options, inventory.valueSchema()));
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException(
          e.getReason() == null
              ? location + ": its manifest is missing: " + e.getFile()
              : String.valueOf(e.getMessage()),
          e);
    } catch (IOException e) {
      throw new UncheckedIOException(OptionWording.of(e), e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(location + ": " + e.getMessage(), e);
    }
  }

  private static void requireDirectory(DistantDirectory directory) {
    Path local = directory.local();
    if (local != null && Files.isRegularFile(local)) {
      throw new IllegalArgumentException("is a file; a store and a database are directories");
    }
  }

  private static StructType schema(ReadOptions options, @Nullable String rows) {
    if (rows != null) {
      return SparkTypes.of(RowSchema.parse(rows).types());
    }
    return new StructType()
        .add(KEY, options.textKeys() ? DataTypes.StringType : DataTypes.BinaryType, false)
        .add(VALUE, options.textValues() ? DataTypes.StringType : DataTypes.BinaryType, false);
  }

  /** The number of keys. */
  long records() {
    return places.stream().mapToLong(ShardPlace::records).sum();
  }

  /** The size of all files, roughly. */
  long bytes() {
    return places.stream().mapToLong(ShardPlace::bytes).sum();
  }

  /** What it is, for messages and plans. */
  String describe() {
    return options.location() + (version == null ? "" : " version " + version);
  }

  /**
   * Checks that columns can be read with the types that a table was declared with.
   *
   * @throws IllegalArgumentException if there is none of the name, or of another type
   */
  void requireColumns(StructType asked) {
    List<String> names = Arrays.asList(schema.fieldNames());
    for (StructField field : asked.fields()) {
      int index = names.indexOf(field.name());
      if (index < 0) {
        throw new IllegalArgumentException(
            "%s has no column %s%s; its columns are %s"
                .formatted(
                    describe(),
                    field.name(),
                    NearestName.to(field.name(), names)
                        .map(near -> ", did you mean " + near + "?")
                        .orElse(""),
                    schema.toDDL()));
      }
      StructField stored = schema.fields()[index];
      if (!SparkTypes.canRead(stored, field)) {
        throw new IllegalArgumentException(
            "column %s of %s is %s and cannot be read as %s"
                .formatted(field.name(), describe(), stored.toDDL(), field.toDDL()));
      }
    }
  }

  /**
   * The options of a table that matter to reading. Immutable.
   *
   * @param location the path, as users write it
   * @param keyColumns the columns of rows that the keys were made of; empty if unknown
   * @param keyJoin the separator between several of them
   * @param textKeys whether keys are strings, in a database without rows
   * @param textValues whether values are strings, in a database without rows
   * @param cacheBytes the most bytes of databases that a process keeps copies of
   */
  record ReadOptions(
      String location,
      List<String> keyColumns,
      String keyJoin,
      boolean textKeys,
      boolean textValues,
      long cacheBytes)
      implements Serializable {
    private static final long DEFAULT_CACHE = 64L << 30;

    /** Copies the list. */
    ReadOptions {
      keyColumns = List.copyOf(keyColumns);
    }

    /** The type of the keys or the values of a database without rows. */
    private enum Type {
      BINARY,
      STRING
    }

    /**
     * Reads the options.
     *
     * @throws IllegalArgumentException if one has a bad value, or the path is missing
     */
    static ReadOptions of(OptionValues options) {
      String location = options.text("path");
      if (location == null || location.isEmpty()) {
        throw new IllegalArgumentException(
            "the path is missing: format(\"bsdb\").load(PATH), or OPTIONS (path 'PATH')");
      }
      String join = options.keyJoin();
      long cacheBytes = options.number("cacheBytes", DEFAULT_CACHE);
      if (cacheBytes < 0) {
        throw new IllegalArgumentException("cacheBytes is " + cacheBytes + ", less than 0");
      }
      return new ReadOptions(
          location,
          options.keys(),
          join == null ? "" : join,
          options.choice("keyType", Type.class, Type.BINARY) == Type.STRING,
          options.choice("valueType", Type.class, Type.BINARY) == Type.STRING,
          cacheBytes);
    }
  }
}
