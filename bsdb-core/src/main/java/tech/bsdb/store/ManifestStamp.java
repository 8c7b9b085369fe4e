package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Manifest;

/**
 * What tells at a glance that a database's manifest is another one than before.
 *
 * @param key what the file system knows the file by
 * @param modified when it was last written
 * @param bytes its length
 */
record ManifestStamp(@Nullable Object key, FileTime modified, long bytes) {
  /** The stamp of a database's manifest, or null if there is none. */
  static @Nullable ManifestStamp of(Path database) {
    try {
      BasicFileAttributes found =
          Files.readAttributes(database.resolve(Manifest.FILE_NAME), BasicFileAttributes.class);
      return new ManifestStamp(found.fileKey(), found.lastModifiedTime(), found.size());
    } catch (IOException notThere) {
      return null;
    }
  }
}
