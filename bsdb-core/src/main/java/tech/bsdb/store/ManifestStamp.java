package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Manifest;

/**
 * A cheap fingerprint that shows whether a database's manifest was replaced.
 *
 * @param key the file system's key for the file
 * @param modified when the file was last modified
 * @param bytes the file's length
 */
record ManifestStamp(@Nullable Object key, FileTime modified, long bytes) {
  /** The stamp of a database's manifest, or null if it cannot be read. */
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
