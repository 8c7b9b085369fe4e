package tech.bsdb.tools.source;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/**
 * The tables whose directories hold more files than their rows are in: a log beside the files says
 * which of them count. A directory is such a table if it has the log.
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

  /** The directory that has the log. */
  private final String log;

  private final String name;
  private final String harm;

  TableFormat(String name, String log, String harm) {
    this.name = name;
    this.log = log;
    this.harm = harm;
  }

  /** Looks into a directory. */
  interface Look {
    /** Whether it has a directory of that name. */
    boolean hasDirectory(String name) throws IOException;

    /** The names in a directory of it. */
    List<String> names(String directory) throws IOException;
  }

  /** Which table a directory is, or null. */
  static @Nullable TableFormat of(Look look) throws IOException {
    for (TableFormat format : values()) {
      if (look.hasDirectory(format.log) && (format != ICEBERG || hasMetadata(look))) {
        return format;
      }
    }
    return null;
  }

  private static boolean hasMetadata(Look look) throws IOException {
    return look.names(ICEBERG.log).stream().anyMatch(TableFormat::isMetadata);
  }

  private static boolean isMetadata(String name) {
    return name.endsWith(".metadata.json") || name.endsWith(".metadata.json.gz");
  }

  /** The directory below a table that has no rows, though it is not hidden; or null. */
  @Nullable String visibleLog() {
    return this == ICEBERG ? log : null;
  }

  /** What to tell the user. */
  InputException refuse(String table) {
    return new InputException(
        table
            + ": is "
            + name
            + " ("
            + log
            + "): "
            + harm
            + "; write its current rows to a plain directory with the engine it belongs to (Spark,"
            + " Trino, DuckDB) and build from that, or take all its files as they are with"
            + " --raw-files");
  }
}
