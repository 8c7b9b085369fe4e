package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.stream.Stream;
import tech.bsdb.Database;
import tech.bsdb.store.Store;
import tech.bsdb.tools.cli.UsageException;

/** What the store that follows has. */
final class LocalStore {
  private LocalStore() {}

  /**
   * Whether there is a version to serve.
   *
   * @throws UsageException if the directory is neither a store nor can become one
   */
  static boolean isFilled(Path directory) throws IOException, UsageException {
    if (Files.notExists(directory) || Files.isDirectory(directory) && isEmpty(directory)) {
      return false;
    }
    try {
      String current = Store.open(directory).current();
      return current != null && Files.isDirectory(directory.resolve(current));
    } catch (NotDirectoryException e) {
      throw new UsageException(
          "--follow pulls into a store, but -d "
              + e.getMessage()
              + "; name a store, or a directory that does not exist, with -d");
    }
  }

  /** Whether there is nothing but hidden files, such as those that an earlier pull left. */
  private static boolean isEmpty(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries
          .map(entry -> String.valueOf(entry.getFileName()))
          .allMatch(name -> name.startsWith(".") || name.equals("lost+found"));
    }
  }

  /** Whether a database is the current version, or was when it was pulled last. */
  static boolean hasPulled(Path directory, String id) throws IOException {
    if (!Store.isStore(directory)) {
      return false;
    }
    Store store = Store.open(directory);
    String current = store.current();
    return current != null
        && (id.equals(store.pulled()) || id.equals(idOf(directory.resolve(current))));
  }

  private static String idOf(Path version) {
    try {
      return Database.statistics(version).databaseId();
    } catch (IOException unreadable) {
      return ""; // whoever serves it says so
    }
  }
}
