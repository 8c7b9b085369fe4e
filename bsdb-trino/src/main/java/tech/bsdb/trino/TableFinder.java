package tech.bsdb.trino;

import io.trino.spi.StandardErrorCode;
import io.trino.spi.TrinoException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;
import tech.bsdb.transfer.Shipment;

/** Finds the tables of a catalog, and their versions. Immutable and thread-safe. */
final class TableFinder {
  private final CatalogSettings settings;

  TableFinder(CatalogSettings settings) {
    this.settings = settings;
  }

  /**
   * A version of a table.
   *
   * @param location the directory or URL of the database
   * @param version the name of the version; null if the table is not a store
   * @param statistics those of the database, which is not open
   */
  record Found(String location, @Nullable String version, Statistics statistics) {
    /** Refuses a set that lacks shards, whose rows a scan would lack without a word. */
    Found {
      if (statistics.isPartialSet()) {
        throw new TrinoException(
            StandardErrorCode.NOT_SUPPORTED,
            "%s holds only the shards %s of %s; a table needs all of them"
                .formatted(location, statistics.heldShardRanges(), statistics.shards()));
      }
    }
  }

  /** The locations of the tables, by their names. */
  Map<String, String> tables() {
    Map<String, String> tables = new TreeMap<>();
    String stores = settings.stores();
    if (stores != null) {
      Map<String, String> directories = directories(OpenTables.path(stores));
      directories.forEach(tables::put);
    }
    settings
        .tables()
        .forEach(
            (name, table) -> {
              if (table.location() != null) {
                tables.put(name, table.location());
              }
            });
    return tables;
  }

  private static Map<String, String> directories(Path stores) {
    Map<String, String> tables = new TreeMap<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(stores)) {
      for (Path entry : entries) {
        if (isTable(entry)) {
          String name = entry.getFileName().toString().toLowerCase(Locale.ENGLISH);
          String other = tables.put(name, entry.toString());
          if (other != null) {
            throw new TrinoException(
                StandardErrorCode.CONFIGURATION_INVALID,
                "%s and %s would be the same table, because Trino's names have no case; rename one"
                    .formatted(other, entry));
          }
        }
      }
    } catch (IOException e) {
      throw new TrinoException(
          StandardErrorCode.CONFIGURATION_INVALID,
          "the directory of bsdb.stores cannot be read: " + e,
          e);
    }
    return tables;
  }

  /** Whether a directory is a table: also if it has no CURRENT, so that a query says that. */
  private static boolean isTable(Path directory) throws IOException {
    try {
      Store.requireCurrent(directory);
      return Store.isStore(directory) || Files.exists(Database.manifest(directory));
    } catch (NotDirectoryException noCurrent) {
      return true;
    }
  }

  /**
   * Looks at the current version of a location, or at another one.
   *
   * @param version the name of a version; null for the current one
   */
  static Found find(String location, @Nullable String version) throws IOException {
    if (OpenTables.isElsewhere(location)) {
      return elsewhere(location, version);
    }
    Path path = OpenTables.path(location);
    Store.requireCurrent(path);
    if (!Store.isStore(path)) {
      requireNone(version, location);
      return new Found(path.toString(), null, Database.statistics(path));
    }
    Store store = Store.open(path);
    String name = version == null ? store.current() : version;
    if (name == null) {
      throw new IOException(
          "%s names no version; to make one current: bsdb rollback %s VERSION"
              .formatted(path, path));
    }
    if (version != null
        && store.versions().stream().map(StoredVersion::name).noneMatch(version::equals)) {
      throw new TrinoException(
          StandardErrorCode.INVALID_ARGUMENTS,
          "%s has no version %s; its versions are %s"
              .formatted(
                  path,
                  version,
                  String.join(", ", store.versions().stream().map(StoredVersion::name).toList())));
    }
    Path database = path.resolve(name);
    return new Found(database.toString(), name, Database.statistics(database));
  }

  private static Found elsewhere(String location, @Nullable String version) throws IOException {
    String slash = location.endsWith("/") ? location : location + "/";
    if (version != null && !Shipment.isVersionName(version)) { // such as ../other
      throw new TrinoException(
          StandardErrorCode.INVALID_ARGUMENTS, version + " is not the name of a version");
    }
    String asked = version == null ? location : slash + version;
    Statistics statistics;
    try {
      statistics = Database.statistics(URI.create(asked), RemoteOptions.defaults());
    } catch (IllegalArgumentException e) {
      throw new IOException(String.valueOf(e.getMessage()), e);
    }
    String found = statistics.location();
    String name =
        found.startsWith(slash) && found.length() > slash.length()
            ? found.substring(slash.length())
            : null;
    return new Found(found, name, statistics);
  }

  private static void requireNone(@Nullable String version, String location) {
    if (version != null) {
      throw new TrinoException(
          StandardErrorCode.NOT_SUPPORTED,
          location + " is a database, not a store, and has no versions");
    }
  }
}
