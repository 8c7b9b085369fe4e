package tech.bsdb.tools.source;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/**
 * Table formats whose directories hold more files than those of the current rows: a log beside the
 * files says which are current. A directory that has the log is such a table.
 */
public enum TableFormat {
  /** Delta Lake. */
  DELTA(
      "a Delta Lake table",
      "_delta_log",
      "its directory still holds files of rows that were deleted or replaced, and a build would"
          + " bring those back"),
  /** Iceberg. */
  ICEBERG(
      "an Iceberg table",
      "metadata",
      "its directory still holds files of rows that were deleted or replaced, and a build would"
          + " bring those back"),
  /** Hudi. */
  HUDI(
      "a Hudi table",
      ".hoodie",
      "its directory still holds earlier versions of its files, and a build would bring old rows"
          + " back"),
  /** Spark's streams of files. */
  STREAM(
      "the output of Spark Structured Streaming",
      "_spark_metadata",
      "its directory may hold files that were never committed, and a build would take their rows"
          + " too");

  /** The log's directory. */
  private final String log;

  private final String title;
  private final String harm;

  TableFormat(String title, String log, String harm) {
    this.title = title;
    this.log = log;
    this.harm = harm;
  }

  /**
   * A file system's directories.
   *
   * @param <P> its type of paths
   */
  interface Tree<P> {
    /** Whether a directory has one with the given name; not if that is forbidden to know. */
    boolean hasDirectory(P directory, String name) throws IOException;

    /** Returns the names in a directory's directory; none if they are forbidden to know. */
    List<String> names(P directory, String name) throws IOException;

    /** Returns the parent directory, or null. */
    @Nullable P parent(P directory);
  }

  /** Names in a directory. */
  interface Names {
    boolean has(String name) throws IOException;
  }

  private static boolean isMetadata(String name) {
    return name.endsWith(".metadata.json") || name.endsWith(".metadata.json.gz");
  }

  /**
   * Returns the format, as {@code --format} takes it, of the table that an input names: a local
   * directory with the log of one that can be read as a table, that log itself, or a file of its
   * metadata; else null.
   */
  public static @Nullable String ofInput(String input) {
    if (isMetadata(input)) {
      return ICEBERG.word();
    }
    Path directory;
    try {
      directory = Path.of(input);
    } catch (InvalidPathException notLocal) {
      return null;
    }
    if (Files.isDirectory(directory.resolve(DELTA.log)) || directory.endsWith(DELTA.log)) {
      return DELTA.word();
    }
    return hasMetadata(directory.resolve(ICEBERG.log))
            || directory.endsWith(ICEBERG.log) && hasMetadata(directory)
        ? ICEBERG.word()
        : null;
  }

  private static boolean hasMetadata(Path directory) {
    String @Nullable [] names = directory.toFile().list();
    return names != null && Arrays.stream(names).anyMatch(TableFormat::isMetadata);
  }

  private String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Creates the error for the user. */
  InputException refuse(String table) {
    String instead =
        this == DELTA || this == ICEBERG
            ? "read its current rows with --format %s -i %s".formatted(word(), table)
            : "write its current rows to a plain directory with the engine it belongs to (Spark,"
                + " Trino, DuckDB) and build from that";
    return new InputException(
        "%s: is %s (%s): %s; %s, or read all its files with --raw-files"
            .formatted(table, title, log, harm, instead));
  }

  /**
   * Caches which directories are tables, so that each is listed once.
   *
   * @param <P> the path type of a file system
   */
  static final class Tables<P> {
    private final Tree<P> tree;
    private final Map<P, Optional<TableFormat>> formats = new HashMap<>();
    private final Set<P> good = new HashSet<>();

    Tables(Tree<P> tree) {
      this.tree = tree;
    }

    /** Returns the format of the table in a directory, or null. */
    private @Nullable TableFormat format(P directory) throws IOException {
      Optional<TableFormat> known = formats.get(directory);
      return known == null
          ? inspect(directory, name -> tree.hasDirectory(directory, name))
          : known.orElse(null);
    }

    /** Finds out what a directory is by the directories in it, and caches that. */
    @Nullable TableFormat inspect(P directory, Names directories) throws IOException {
      TableFormat found = null;
      for (TableFormat format : values()) {
        if (found == null
            && directories.has(format.log)
            && (format != ICEBERG
                || tree.names(directory, format.log).stream().anyMatch(TableFormat::isMetadata))) {
          found = format;
        }
      }
      formats.put(directory, Optional.ofNullable(found));
      return found;
    }

    /**
     * Checks that a directory is not in a table.
     *
     * @throws InputException if it is one, or one above it is
     */
    void check(P directory) throws IOException {
      if (good.contains(directory)) {
        return;
      }
      TableFormat format = format(directory);
      if (format != null) {
        throw format.refuse(directory.toString());
      }
      P parent = tree.parent(directory);
      if (parent != null) {
        check(parent);
      }
      good.add(directory);
    }

    /** Whether a directory holds a table's log and no rows, although it is not hidden. */
    boolean isLog(P directory, String name) throws IOException {
      P parent = name.equals(ICEBERG.log) ? tree.parent(directory) : null;
      return parent != null && format(parent) == ICEBERG;
    }
  }
}
