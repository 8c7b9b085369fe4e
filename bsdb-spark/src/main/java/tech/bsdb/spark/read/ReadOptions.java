package tech.bsdb.spark.read;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.NearestName;

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
  private static final String PATH = "path";
  private static final String KEY = "key";
  private static final String KEY_JOIN = "keyJoin";
  private static final String KEY_TYPE = "keyType";
  private static final String VALUE_TYPE = "valueType";
  private static final String CACHE_BYTES = "cacheBytes";

  /** The names of the options. */
  static final List<String> NAMES = List.of(PATH, KEY, KEY_JOIN, KEY_TYPE, VALUE_TYPE, CACHE_BYTES);

  /** What Spark itself adds for the tables of a catalog. */
  private static final List<String> OF_CATALOG =
      List.of("provider", "location", "owner", "comment", "external", "is_managed_location");

  private static final long DEFAULT_CACHE = 64L << 30;

  /** Copies the list. */
  ReadOptions {
    keyColumns = List.copyOf(keyColumns);
  }

  /**
   * Reads the options. Names that contain a dot are settings of Hadoop and Spark.
   *
   * @param others further names that are allowed: the options of writing
   * @throws IllegalArgumentException if one is unknown, has a bad value, or the path is missing
   */
  static ReadOptions of(CaseInsensitiveStringMap options, Collection<String> others) {
    refuseUnknown(options, others);
    String location = options.get(PATH);
    if (location == null || location.isEmpty()) {
      throw new IllegalArgumentException(
          "the path is missing: format(\"bsdb\").load(PATH), or OPTIONS (path 'PATH')");
    }
    List<String> columns = columns(options.get(KEY));
    String join = options.get(KEY_JOIN);
    if (columns.size() > 1 && join == null) {
      throw new IllegalArgumentException(
          "option key names " + columns.size() + " columns; option keyJoin is what joins them");
    }
    return new ReadOptions(
        location,
        columns,
        join == null ? "" : join,
        isText(options, KEY_TYPE),
        isText(options, VALUE_TYPE),
        bytes(options));
  }

  private static void refuseUnknown(CaseInsensitiveStringMap options, Collection<String> others) {
    TreeSet<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    known.addAll(NAMES);
    known.addAll(others);
    for (Map.Entry<String, String> option : options.asCaseSensitiveMap().entrySet()) {
      String name = option.getKey();
      if (!known.contains(name)
          && !OF_CATALOG.contains(name.toLowerCase(Locale.ROOT))
          && name.indexOf('.') < 0) {
        throw new IllegalArgumentException(
            "no option "
                + name
                + NearestName.to(name, known).map(near -> ", did you mean " + near + "?").orElse("")
                + "; the options for reading are "
                + String.join(", ", NAMES));
      }
    }
  }

  private static List<String> columns(@Nullable String names) {
    List<String> columns = new ArrayList<>();
    if (names != null) {
      for (String name : names.split(",", -1)) {
        if (name.isBlank()) {
          throw new IllegalArgumentException("option key is \"" + names + "\", with an empty name");
        }
        columns.add(name.strip());
      }
    }
    return columns;
  }

  private static boolean isText(CaseInsensitiveStringMap options, String name) {
    String type = options.getOrDefault(name, "binary").toLowerCase(Locale.ROOT);
    if (!type.equals("binary") && !type.equals("string")) {
      throw new IllegalArgumentException(
          "option " + name + " is " + type + "; it is binary or string");
    }
    return type.equals("string");
  }

  private static long bytes(CaseInsensitiveStringMap options) {
    String written = options.get(CACHE_BYTES);
    try {
      long bytes = written == null ? DEFAULT_CACHE : Long.parseLong(written);
      if (bytes >= 0) {
        return bytes;
      }
    } catch (NumberFormatException notANumber) {
      // refused below
    }
    throw new IllegalArgumentException(
        "option " + CACHE_BYTES + " is " + written + "; it is a number of bytes from 0");
  }
}
