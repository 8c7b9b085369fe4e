package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.io.Memory;
import tech.bsdb.io.PageCache;
import tech.bsdb.remote.RemoteTraffic;

/** A store or a plain database in a directory here. */
final class FollowedDirectory implements Followed {
  private final Path directory;
  private final boolean store;
  private final ReloadOptions options;

  private FollowedDirectory(Path directory, boolean store, ReloadOptions options) {
    this.directory = directory;
    this.store = store;
    this.options = options;
  }

  /**
   * Follows a directory.
   *
   * @throws NoSuchFileException if it does not exist
   * @throws NotDirectoryException if it is neither a store nor a database
   */
  static FollowedDirectory of(Path directory, ReloadOptions options) throws IOException {
    refuseUnlessServable(directory);
    return new FollowedDirectory(directory, Store.isStore(directory), options);
  }

  private static void refuseUnlessServable(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      throw new NoSuchFileException(
          directory.toString(),
          null,
          "no such directory; create a database with: bsdb build -i FILE -o "
              + directory
              + ", or a store with: bsdb publish DB "
              + directory);
    }
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(
          directory + " is not a directory; name a database or a store of databases");
    }
    if (Store.isStore(directory) || Directories.isDatabase(directory)) {
      return;
    }
    Store.requireCurrent(directory);
    throw new NotDirectoryException(
        directory
            + " is neither a database nor a store of databases; create one with: bsdb build -i FILE"
            + " -o DB, or: bsdb publish DB STORE");
  }

  @Override
  public boolean isStore() {
    return store;
  }

  @Override
  public boolean isDistant() {
    return false;
  }

  @Override
  public String location(String file) {
    return (file.isEmpty() ? directory : directory.resolve(file)).toString();
  }

  @Override
  public String name() {
    return DurableFiles.name(directory.toAbsolutePath().normalize());
  }

  @Override
  public @Nullable NamedVersion named() throws IOException {
    return store ? NamedVersion.of(Pointer.read(directory)) : NamedVersion.PLAIN;
  }

  private Path of(NamedVersion version) {
    return version.version() == null ? directory : directory.resolve(version.version());
  }

  @Override
  public @Nullable Object stamp(NamedVersion version) {
    return ManifestStamp.of(of(version));
  }

  @Override
  public String id(NamedVersion version) throws IOException {
    mustExist(version);
    return Database.statistics(of(version)).databaseId();
  }

  /**
   * Rejects a version that the store names but does not contain. Opening would reject it too, but
   * would suggest building a database inside the store.
   */
  private void mustExist(NamedVersion version) throws NoSuchFileException {
    if (version.version() != null && Files.notExists(of(version))) {
      throw new NoSuchFileException(
          of(version).toString(),
          null,
          "no such directory; publish the version again with: bsdb publish DB "
              + directory
              + ", or roll back to another with: bsdb rollback "
              + directory
              + " VERSION");
    }
  }

  /** Checks the frame of every file, preloads, opens. */
  @Override
  public Database open(NamedVersion version, BooleanSupplier ends) throws IOException {
    mustExist(version);
    if (options.preload() != Preload.NONE) {
      preload(Database.statistics(of(version)), ends);
    }
    return Database.open(of(version), options.open());
  }

  /** Reads the selected files into the page cache, in huge pages if memory has room. */
  private void preload(Statistics statistics, BooleanSupplier ends) throws IOException {
    Map<Path, Long> files = new LinkedHashMap<>();
    statistics
        .fileBytes()
        .forEach(
            (name, bytes) -> {
              if (options.preload() == Preload.ALL
                  || !DurableFiles.name(Path.of(name)).startsWith("data")) {
                files.put(statistics.directory().resolve(name), bytes);
              }
            });
    long bytes = files.values().stream().mapToLong(Long::longValue).sum();
    boolean inHugePages = bytes <= Memory.available();
    for (Map.Entry<Path, Long> file : files.entrySet()) {
      PageCache.read(file.getKey(), file.getValue(), inHugePages, ends, more -> {});
    }
  }

  @Override
  public @Nullable RemoteTraffic traffic() {
    return null;
  }

  @Override
  public void close() {}

  /**
   * A cheap fingerprint that shows whether a database's manifest was replaced.
   *
   * @param key the file system's key for the file
   * @param modified when the file was last modified
   * @param bytes the file's length
   */
  private record ManifestStamp(@Nullable Object key, FileTime modified, long bytes) {
    /** The stamp of a database's manifest, or null if it cannot be read. */
    static @Nullable ManifestStamp of(Path database) {
      try {
        BasicFileAttributes found =
            Files.readAttributes(Database.manifest(database), BasicFileAttributes.class);
        return new ManifestStamp(found.fileKey(), found.lastModifiedTime(), found.size());
      } catch (IOException notThere) {
        return null;
      }
    }
  }
}
