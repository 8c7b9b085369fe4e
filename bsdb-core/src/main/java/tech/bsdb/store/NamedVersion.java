package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a directory says is to be served.
 *
 * @param version the name of a store's version; null for a plain database
 * @param directory the database
 * @param whole whether it was surely read to its end
 */
record NamedVersion(@Nullable String version, Path directory, boolean whole) {
  static NamedVersion ofDatabase(Path directory) {
    return new NamedVersion(null, directory, true);
  }

  /** What a store's pointer names, or null if it names nothing. */
  static @Nullable NamedVersion ofStore(Path store) throws IOException {
    Pointer pointer = Pointer.read(store);
    return pointer == null
        ? null
        : new NamedVersion(pointer.current(), store.resolve(pointer.current()), pointer.whole());
  }

  /**
   * Refuses a version that a store names and does not have. Opening would refuse it too, but advise
   * to build a database inside the store.
   */
  void mustExist() throws NoSuchFileException {
    if (version != null && Files.notExists(directory)) {
      Path store = directory.getParent();
      throw new NoSuchFileException(
          directory.toString(),
          null,
          "no such directory; publish the version again with: bsdb publish DB "
              + store
              + ", or go back to another with: bsdb rollback "
              + store
              + " VERSION");
    }
  }

  /** What people know it by. */
  String label() {
    return version == null ? Directories.name(directory.toAbsolutePath().normalize()) : version;
  }
}
