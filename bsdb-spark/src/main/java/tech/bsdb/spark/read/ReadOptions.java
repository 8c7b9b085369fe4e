package tech.bsdb.spark.read;

import java.io.Serializable;
import java.util.List;
import tech.bsdb.spark.options.OptionValues;

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
