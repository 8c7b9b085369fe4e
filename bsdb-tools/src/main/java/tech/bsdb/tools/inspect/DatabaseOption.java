package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import tech.bsdb.Statistics;
import tech.bsdb.store.Store;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;

/** The option {@code -d} of every command that reads a database. */
public final class DatabaseOption {
  private DatabaseOption() {}

  /** Why {@code -ic} and {@code -id} exclude each other. */
  public static final String ONE_INDEX = "the index is read from memory, or from the device";

  /**
   * The given directory, checked to be one that can hold a database; opening it shows whether it
   * does.
   *
   * @throws FileSystemException if it is missing, is not a directory, or is empty
   */
  public static Path of(Arguments arguments) throws UsageException, IOException {
    return of(place(arguments), arguments.text("-d", "./rdb"), arguments.has("-d"));
  }

  /**
   * Checks a directory in the same manner.
   *
   * @param given the directory as the user wrote it
   */
  public static Path of(Path directory, String given) throws IOException {
    return of(directory, given, true);
  }

  private static Path of(Path directory, String given, boolean chosen) throws IOException {
    if (Files.notExists(directory)) {
      throw new FileSystemException(given, null, "no such directory" + tip(directory, chosen));
    }
    if (!Files.isDirectory(directory)) {
      throw new FileSystemException(given, null, "not a database: it is a file, not a directory");
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      if (!entries.iterator().hasNext()) {
        throw new FileSystemException(given, null, "not a database: the directory is empty");
      }
    }
    return directory;
  }

  /**
   * The database that an operand names: a database or a set itself, or the current version of a
   * store, as it is now. Its directory is checked like that of the option.
   *
   * @param given the directory as the user wrote it
   */
  public static Path current(Path directory, String given) throws IOException {
    return currentOf(of(directory, given), given);
  }

  /** The database that the option names, in the same manner. */
  public static Path current(Arguments arguments) throws UsageException, IOException {
    return currentOf(of(arguments), arguments.text("-d", "./rdb"));
  }

  /** The database that the option names, in the same manner; says which version it is. */
  public static Path current(Arguments arguments, Console console, String command)
      throws UsageException, IOException {
    Path database = current(arguments);
    if (!database.equals(place(arguments))) {
      console.say("bsdb %s: reading %s, the current version".formatted(command, database));
    }
    return database;
  }

  private static Path currentOf(Path directory, String given) throws IOException {
    Store.requireCurrent(directory);
    return Store.isStore(directory) ? version(directory, given) : directory;
  }

  /** The current version of a store. */
  private static Path version(Path directory, String given) throws IOException {
    String current = Store.open(directory).current();
    if (current == null) {
      throw new NotDirectoryException(
          given + " is not a database but a store, and its file CURRENT names no version");
    }
    Path version = directory.resolve(current);
    if (Files.notExists(version)) {
      throw new FileSystemException(
          version.toString(),
          null,
          ("no such directory, although it is the current version of the store; publish it again"
                  + " with: bsdb publish DB %s, or roll back to another with: bsdb rollback %s"
                  + " VERSION")
              .formatted(directory, directory));
    }
    return version;
  }

  /** The given directory, which need not exist. */
  public static Path place(Arguments arguments) throws UsageException {
    arguments.refuseEmpty("-d", "the directory of a database");
    return arguments.path("-d", "./rdb");
  }

  /** A failure for which a database, as it was built, is the reason. */
  static FileSystemException unfit(Statistics database, String why) {
    return new FileSystemException(database.location(), null, why);
  }

  /**
   * Checks that a database keeps its keys.
   *
   * @param undone what cannot be done with it otherwise
   * @throws FileSystemException if it is approximate
   */
  static void requireKeys(Statistics database, String undone) throws FileSystemException {
    if (database.approximateWidth() > 0) {
      throw unfit(database, "an approximate database keeps no keys, so it cannot be " + undone);
    }
  }

  private static String tip(Path missing, boolean chosen) {
    if (!chosen) {
      return "; name the database with -d, or build one with: bsdb build -i FILE";
    }
    Path parent = missing.getParent();
    return parent != null && Store.isStore(parent)
        ? "; list the versions of the store with: bsdb versions " + parent
        : "";
  }
}
