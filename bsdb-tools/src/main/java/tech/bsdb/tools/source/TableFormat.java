package tech.bsdb.tools.source;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/**
 * Table formats whose directories hold more files than those of the current rows: a log beside the
 * files says which are current. A directory that has the log is such a table.
 */
enum TableFormat {
  DELTA(
      "a Delta Lake table",
      "_delta_log",
      "its directory still holds files of rows that were deleted or replaced, and a build would"
          + " bring those back"),
  ICEBERG(
      "an Iceberg table",
      "metadata",
      "its directory still holds files of rows that were deleted or replaced, and a build would"
          + " bring those back"),
  HUDI(
      "a Hudi table",
      ".hoodie",
      "its directory still holds earlier versions of its files, and a build would bring old rows"
          + " back"),
  STREAM(
      "the output of Spark Structured Streaming",
      "_spark_metadata",
      "its directory may hold files that were never committed, and a build would take their rows"
          + " too");

  /** The log's directory. */
  private final String log;

  private final String name;
  private final String harm;

  TableFormat(String name, String log, String harm) {
    this.name = name;
    this.log = log;
    this.harm = harm;
  }

  /** Lists a directory. */
  interface Listing {
    /** Whether it has a directory with the given name. */
    boolean hasDirectory(String name) throws IOException;

    /** Returns the names in one of its directories. */
    List<String> names(String directory) throws IOException;
  }

  /** Returns the format of the table in a directory, or null. */
  static @Nullable TableFormat of(Listing listing) throws IOException {
    for (TableFormat format : values()) {
      if (listing.hasDirectory(format.log) && (format != ICEBERG || hasMetadata(listing))) {
        return format;
      }
    }
    return null;
  }

  private static boolean hasMetadata(Listing listing) throws IOException {
    return listing.names(ICEBERG.log).stream().anyMatch(TableFormat::isMetadata);
  }

  private static boolean isMetadata(String name) {
    return name.endsWith(".metadata.json") || name.endsWith(".metadata.json.gz");
  }

  /** Returns the directory of a table that has no rows although it is not hidden, or null. */
  @Nullable String visibleLog() {
    return this == ICEBERG ? log : null;
  }

  /** Creates the error for the user. */
  InputException refuse(String table) {
    return new InputException(
        ("%s: is %s (%s): %s; write its current rows to a plain directory with the engine it"
                + " belongs to (Spark, Trino, DuckDB) and build from that, or read all its files with"
                + " --raw-files")
            .formatted(table, name, log, harm));
  }

  /**
   * Caches which directories are tables, so that each is listed once.
   *
   * @param <P> the path type of a file system
   */
  abstract static class Tables<P> {
    private final Map<P, Optional<TableFormat>> formats = new HashMap<>();
    private final Set<P> good = new HashSet<>();

    /** Returns a listing of a directory. */
    abstract TableFormat.Listing listing(P directory);

    /** Returns the parent directory, or null. */
    abstract @Nullable P parent(P directory);

    /** Returns the format of the table in a directory, or null. */
    final @Nullable TableFormat format(P directory) throws IOException {
      Optional<TableFormat> known = formats.get(directory);
      return known == null ? inspect(directory, listing(directory)) : known.orElse(null);
    }

    /** Inspects a directory and caches the result. */
    final @Nullable TableFormat inspect(P directory, TableFormat.Listing listing)
        throws IOException {
      TableFormat format = TableFormat.of(listing);
      formats.put(directory, Optional.ofNullable(format));
      return format;
    }

    /**
     * Checks that a directory is not in a table.
     *
     * @throws InputException if it is one, or one above it is
     */
    final void check(P directory) throws IOException {
      if (good.contains(directory)) {
        return;
      }
      TableFormat format = format(directory);
      if (format != null) {
        throw format.refuse(directory.toString());
      }
      P parent = parent(directory);
      if (parent != null) {
        check(parent);
      }
      good.add(directory);
    }

    /** Whether a directory holds a table's log and no rows, although it is not hidden. */
    final boolean isLog(P directory, String name) throws IOException {
      for (TableFormat format : TableFormat.values()) {
        if (name.equals(format.visibleLog())) {
          P parent = parent(directory);
          return parent != null && format(parent) == format;
        }
      }
      return false;
    }
  }
}
