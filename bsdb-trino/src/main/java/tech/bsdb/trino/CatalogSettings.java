package tech.bsdb.trino;

import io.trino.spi.StandardErrorCode;
import io.trino.spi.TrinoException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.NearestName;

/**
 * The properties of a catalog. Immutable.
 *
 * @param stores the directory whose stores, databases and sets of shards are tables; null for none
 * @param tables the tables that are named, by their names
 * @param filterWait how long a scan waits for the keys of the other side of a join
 */
record CatalogSettings(
    @Nullable String stores, Map<String, TableSettings> tables, Duration filterWait) {
  private static final String STORES = "bsdb.stores";
  private static final String TABLE = "bsdb.table.";
  private static final String WAIT = "bsdb.dynamic-filtering.wait-timeout";
  private static final Duration USUAL_WAIT = Duration.ofSeconds(20);

  /** Copies the map. */
  CatalogSettings {
    tables = Map.copyOf(tables);
  }

  /**
   * A table that properties tell something about. Immutable.
   *
   * @param location the path or URL; null if it is one of the directory of stores
   * @param key the columns of rows that keys were made of, in lower case; empty if unknown
   * @param keyJoin the text between several of them
   * @param checksAll whether the keys of all records are compared with the key columns before
   *     lookups by these, or else of a few
   * @param text whether keys and plain values are VARCHAR, or else VARBINARY
   */
  record TableSettings(
      @Nullable String location,
      List<String> key,
      String keyJoin,
      boolean checksAll,
      boolean text) {
    /** A table without properties. */
    static final TableSettings NONE = new TableSettings(null, List.of(), "", true, true);

    /** Copies the list. */
    TableSettings {
      key = List.copyOf(key);
    }
  }

  /**
   * Reads the properties.
   *
   * @throws TrinoException if one is unknown, or has a bad value
   */
  static CatalogSettings of(Map<String, String> properties) {
    String stores = null;
    Duration wait = USUAL_WAIT;
    Map<String, TableSettings> tables = new TreeMap<>();
    for (Map.Entry<String, String> property : new TreeMap<>(properties).entrySet()) {
      String name = property.getKey();
      String value = property.getValue().strip();
      if (value.isEmpty()) {
        throw invalid(name + " is empty");
      }
      if (name.equals(STORES)) {
        if (OpenTables.isElsewhere(value)) {
          throw invalid(
              "%s is %s, but must be a directory; pull stores to one, or name those at http and https: %sNAME"
                  .formatted(name, value, TABLE));
        }
        stores = value;
      } else if (name.equals(WAIT)) {
        wait = duration(name, value);
      } else if (name.startsWith(TABLE)) {
        String[] parts = name.substring(TABLE.length()).split("\\.", -1);
        String table = parts[0].toLowerCase(Locale.ROOT);
        TableSettings before = tables.getOrDefault(table, TableSettings.NONE);
        tables.put(table, with(before, name, parts, value));
      } else {
        Set<String> known = Set.of(STORES, WAIT, TABLE + "NAME");
        throw invalid(
            name
                + " is not a property of this connector"
                + NearestName.to(name, List.copyOf(known))
                    .map(near -> ", did you mean " + near + "?")
                    .orElse(""));
      }
    }
    for (Map.Entry<String, TableSettings> table : tables.entrySet()) {
      if (table.getValue().key().size() > 1 && table.getValue().keyJoin().isEmpty()) {
        throw invalid(
            "the key of table %s has several columns: %s%s.key-join is the text between them"
                .formatted(table.getKey(), TABLE, table.getKey()));
      }
      if (table.getValue().location() == null && stores == null) {
        throw invalid(TABLE + table.getKey() + " is missing: the path or URL of the table");
      }
    }
    if (stores == null && tables.isEmpty()) {
      throw invalid(
          "the catalog has no tables: set " + STORES + " to a directory, or " + TABLE + "NAME");
    }
    return new CatalogSettings(stores, tables, wait);
  }

  private static TableSettings with(
      TableSettings table, String property, String[] parts, String value) {
    if (parts[0].isEmpty() || parts.length > 2) {
      throw invalid(property + ": tables are named as in " + TABLE + "NAME");
    }
    String location = table.location();
    List<String> key = table.key();
    String keyJoin = table.keyJoin();
    boolean checksAll = table.checksAll();
    boolean text = table.text();
    if (parts.length == 1) {
      if (OpenTables.isElsewhere(value) && !value.matches("(?i)https?:.*")) {
        throw invalid(
            "%s is %s, but tables are directories, or at http or https; copy it to all nodes: bsdb pull %s DIRECTORY"
                .formatted(property, value, value));
      }
      location = value;
    } else {
      switch (parts[1]) {
        case "key" -> key = List.of(value.toLowerCase(Locale.ENGLISH).split("\\s*,\\s*", -1));
        case "key-join" -> keyJoin = value;
        case "key-check" -> checksAll = isFirst(property, value, "all", "few");
        case "text" -> text = isFirst(property, value, "true", "false");
        default ->
            throw invalid(
                property + ": a table has the properties key, key-join, key-check and text");
      }
    }
    return new TableSettings(location, key, keyJoin, checksAll, text);
  }

  private static boolean isFirst(String property, String value, String first, String second) {
    if (!value.equals(first) && !value.equals(second)) {
      throw invalid(property + " is " + value + ", neither " + first + " nor " + second);
    }
    return value.equals(first);
  }

  private static Duration duration(String name, String value) {
    try {
      Duration duration = Duration.parse("PT" + value.toUpperCase(Locale.ROOT).replace(" ", ""));
      if (!duration.isNegative()) {
        return duration;
      }
    } catch (DateTimeParseException e) {
      // told below
    }
    throw invalid(name + " is " + value + ", which is not a time such as 20s or 2m");
  }

  private static TrinoException invalid(String message) {
    return new TrinoException(StandardErrorCode.CONFIGURATION_INVALID, message);
  }

  /** What properties tell about a table. */
  TableSettings table(String name) {
    return tables.getOrDefault(name, TableSettings.NONE);
  }
}
