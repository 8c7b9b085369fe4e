package tech.bsdb.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.io.DurableFiles;

/** A store on a local disk or a mounted file system. */
final class LocalStore extends Store {
  private final Path directory;

  private LocalStore(Path directory) {
    this.directory = directory;
  }

  static LocalStore opened(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      throw new NoSuchFileException(
          directory.toString(),
          null,
          "no such directory; create a store with: bsdb publish DB " + directory);
    }
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(
          directory + " is not a directory; a store must be a directory");
    }
    if (!isStore(directory)) {
      if (Directories.isDatabase(directory)) {
        throw new NotDirectoryException(directory + " is not a store: it is a single database");
      }
      if (!holdsVersions(directory)) {
        throw new NotDirectoryException(
            directory
                + " is not a store: it has no "
                + Pointer.FILE
                + "; create a store with: bsdb publish DB STORE");
      }
    }
    return new LocalStore(directory);
  }

  /** Whether a directory holds versions, and nothing else that is not hidden. */
  static boolean holdsVersions(Path directory) throws IOException {
    return holdsDatabasesOnly(directory)
        && versionDirectories(directory).stream().anyMatch(Directories::isDatabase);
  }

  @Override
  protected String location(String path) {
    return directory.resolve(path).toString();
  }

  @Override
  public @Nullable Pointer pointer() throws IOException {
    return Pointer.read(directory);
  }

  @Override
  public @Nullable String pulled() throws IOException {
    try {
      return Files.readString(directory.resolve(PulledSupply.PULLED)).strip();
    } catch (NoSuchFileException none) {
      return null;
    }
  }

  @Override
  public List<StoredVersion> versions() throws IOException {
    String current = current();
    List<StoredVersion> versions = new ArrayList<>();
    for (Path version : versionDirectories(directory)) {
      try {
        String name = DurableFiles.name(version);
        versions.add(stored(name, version, name.equals(current)));
      } catch (NoSuchFileException removedMeanwhile) {
        // removed since it was listed
      }
    }
    return versions;
  }

  private static StoredVersion stored(String name, Path version, boolean current)
      throws IOException {
    Instant modified = Files.getLastModifiedTime(version).toInstant();
    try {
      Statistics statistics = Database.statistics(version);
      return new StoredVersion(
          name, version, current, modified, statistics.records(), statistics.databaseBytes());
    } catch (IOException | RuntimeException unreadable) {
      return new StoredVersion(name, version, current, modified, -1, bytes(version));
    }
  }

  private static long bytes(Path version) throws IOException {
    long bytes = 0;
    for (Path entry : DurableFiles.list(version)) {
      if (Files.isRegularFile(entry, LinkOption.NOFOLLOW_LINKS)) {
        bytes += Files.size(entry);
      } else if (Directories.isShard(entry)) {
        bytes += bytes(entry);
      }
    }
    return bytes;
  }

  static List<Path> versionDirectories(Path store) throws IOException {
    return DurableFiles.list(store).stream()
        .filter(entry -> VersionName.isValid(DurableFiles.name(entry)) && Files.isDirectory(entry))
        .filter(entry -> !belongsToFileSystem(entry))
        .sorted(Comparator.comparing(DurableFiles::name, VersionName.NATURAL))
        .toList();
  }

  /**
   * Whether all non-hidden entries of a directory are databases, whole or with files that are
   * missing. Shards are not: they belong to a set, which may not be copied whole yet.
   */
  private static boolean holdsDatabasesOnly(Path directory) throws IOException {
    for (Path entry : DurableFiles.list(directory)) {
      boolean ignored = DurableFiles.name(entry).startsWith(".") || belongsToFileSystem(entry);
      boolean database = Directories.isDatabase(entry) || Directories.isRemainder(entry);
      if (!ignored && (!database || Directories.isShard(entry))) {
        return false;
      }
    }
    return true;
  }

  private static boolean belongsToFileSystem(Path entry) {
    return DurableFiles.name(entry).equals("lost+found");
  }

  @Override
  protected List<String> names() throws IOException {
    return versionDirectories(directory).stream().map(DurableFiles::name).toList();
  }

  @Override
  protected boolean isThere(String version) {
    return Files.isDirectory(directory.resolve(version));
  }

  @Override
  protected void prepare(String version) throws IOException {
    Path target = directory.resolve(version);
    Database.open(target).close();
    Files.deleteIfExists(target.resolve(Publication.UNFINISHED)); // in use now
  }

  @Override
  protected void point(Pointer next) throws IOException {
    IOException notSynced = next.write(directory);
    if (notSynced != null) {
      throw new IOException(
          next.current() + " is current, but a power cut may undo that: " + notSynced, notSynced);
    }
  }

  @Override
  protected String switchTo(@Nullable String version) throws IOException {
    try {
      return StoreLock.switching(directory, () -> super.switchTo(version));
    } catch (
        ClosedByInterruptException
            e) { // before the pointer was replaced: no later step can be interrupted
      InterruptedIOException interrupted =
          new InterruptedIOException(
              directory + ": the rollback was interrupted; the current version is unchanged");
      interrupted.initCause(e);
      throw interrupted;
    }
  }
}
