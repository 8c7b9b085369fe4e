package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a directory says is to be served.
 *
 * @param version the name of a store's version; null for a plain database
 * @param directory the database
 * @param whole whether it was surely read to its end
 */
record Target(@Nullable String version, Path directory, boolean whole) {
  static Target ofDatabase(Path directory) {
    return new Target(null, directory, true);
  }

  /** What a store's pointer names, or null if it names nothing. */
  static @Nullable Target ofStore(Path store) throws IOException {
    Pointer pointer = Pointer.read(store);
    return pointer == null
        ? null
        : new Target(pointer.current(), store.resolve(pointer.current()), pointer.whole());
  }

  /** What people know it by. */
  String label() {
    return version == null ? Directories.name(directory.toAbsolutePath().normalize()) : version;
  }
}
