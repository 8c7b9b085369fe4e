package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.DurableFiles;

/**
 * The version that a directory names for serving.
 *
 * @param version the version's name in its store; null for a plain database
 * @param directory the database directory
 * @param whole whether the pointer was certainly read completely
 */
record NamedVersion(@Nullable String version, Path directory, boolean whole) {
  static NamedVersion ofDatabase(Path directory) {
    return new NamedVersion(null, directory, true);
  }

  /** The version that a store's pointer names, or null if it names none. */
  static @Nullable NamedVersion ofStore(Path store) throws IOException {
    Pointer pointer = Pointer.read(store);
    return pointer == null
        ? null
        : new NamedVersion(pointer.current(), store.resolve(pointer.current()), pointer.whole());
  }

  /**
   * Rejects a version that the store names but does not contain. Opening would reject it too, but
   * would suggest building a database inside the store.
   */
  void mustExist() throws NoSuchFileException {
    if (version != null && Files.notExists(directory)) {
      Path store = directory.getParent();
      throw new NoSuchFileException(
          directory.toString(),
          null,
          "no such directory; publish the version again with: bsdb publish DB "
              + store
              + ", or roll back to another with: bsdb rollback "
              + store
              + " VERSION");
    }
  }

  /** The name shown in messages. */
  String label() {
    return version == null ? DurableFiles.name(directory.toAbsolutePath().normalize()) : version;
  }
}
