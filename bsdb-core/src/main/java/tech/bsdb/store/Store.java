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
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.transfer.Origin;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * A directory of versions of a database, one of them current.
 *
 * <pre>
 * STORE/CURRENT              the current version's name, then the versions to roll back to
 * STORE/20261121T151400Z/    a version: a plain database or set of shards
 * STORE/.lock                and other hidden names: used by publishing, never versions
 * </pre>
 *
 * <p>Thread-safe; holds no open files. Changes are safe alongside those of other processes.
 */
public final class Store {
  private final Path directory;

  private Store(Path directory) {
    this.directory = directory;
  }

  /** Whether a directory is a store with a current version, that is, contains a file CURRENT. */
  public static boolean isStore(Path directory) {
    Path pointer = directory.resolve(Pointer.FILE);
    return Files.isRegularFile(pointer) || Files.isSymbolicLink(pointer);
  }

  /**
   * Fails if a directory holds versions, and neither a file CURRENT nor a database itself.
   *
   * @throws NotDirectoryException if it does; the message says how to make a version current
   */
  public static void requireCurrent(Path directory) throws IOException {
    if (!isStore(directory) && !Directories.isDatabase(directory) && holdsVersions(directory)) {
      throw new NotDirectoryException(
          directory
              + " is not a store with a current version: it has no "
              + Pointer.FILE
              + "; to make a version current: bsdb rollback "
              + directory
              + " VERSION");
    }
  }

  private static boolean holdsVersions(Path directory) throws IOException {
    return holdsDatabasesOnly(directory)
        && versionDirectories(directory).stream().anyMatch(Directories::isDatabase);
  }

  /**
   * Opens a store. A directory without a current version is accepted if it contains only databases.
   *
   * @throws NoSuchFileException if the directory does not exist
   * @throws NotDirectoryException if it is not a store
   */
  public static Store open(Path directory) throws IOException {
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
    return new Store(directory);
  }

  /**
   * Reads what an origin offers now: the current version of its store, or its database or set of
   * shards. Little is read.
   *
   * @param checkOpen called often; throws to cancel
   * @throws NoSuchFileException if the origin is neither a store nor a database
   * @throws IllegalArgumentException if it has not the shards of the options
   */
  public static Shipment offered(Origin origin, TransferOptions options, Runnable checkOpen)
      throws IOException {
    Pointer pointer;
    try {
      byte[] read = Shipment.content(origin, Pointer.FILE, Pointer.MAX_BYTES, options, checkOpen);
      pointer = Pointer.decode(read);
    } catch (NoSuchFileException noStore) {
      try {
        return Shipment.read(origin, "", options, checkOpen);
      } catch (NoSuchFileException neither) {
        NoSuchFileException nothing =
            new NoSuchFileException(
                origin.location(""),
                null,
                "is neither a store nor a database: it has no CURRENT and no manifest.bsdb");
        nothing.addSuppressed(neither);
        throw nothing;
      }
    }
    if (pointer == null) {
      throw new IOException(origin.location(Pointer.FILE) + ": names no version");
    }
    return Shipment.read(origin, pointer.current(), options, checkOpen);
  }

  /** The store directory. */
  public Path directory() {
    return directory;
  }

  /** The name of the current version, or null if none is named. */
  public @Nullable String current() throws IOException {
    Pointer pointer = Pointer.read(directory);
    return pointer == null ? null : pointer.current();
  }

  /**
   * The id of the database that was pulled last and became current, or null if none was. After a
   * rollback it is not that of the current version.
   */
  public @Nullable String pulled() throws IOException {
    try {
      return Files.readString(directory.resolve(PulledSupply.PULLED)).strip();
    } catch (NoSuchFileException none) {
      return null;
    }
  }

  /** The versions in natural name order: v9 before v10. */
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

  /** The directory of a version, whether or not it exists. */
  Path version(String name) {
    return directory.resolve(name);
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

  /**
   * Makes another version current. The version is opened first, so one with a damaged file header,
   * footer or length is rejected.
   *
   * @param version the version's name, or null for the previously current version; if that is
   *     unknown, the version whose name precedes the current one's
   * @return the name of the new current version
   * @throws NoSuchFileException if the version does not exist, or there is none to roll back to
   * @throws tech.bsdb.error.CorruptDatabaseException if the version is damaged; the current version
   *     is then unchanged
   * @throws InterruptedIOException if the thread is interrupted, and stays so; the current version
   *     is then unchanged
   */
  public String rollback(@Nullable String version) throws IOException {
    if (version != null) {
      VersionName.checked(version);
    }
    try {
      return StoreLock.switching(directory, () -> switchTo(version));
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

  private String switchTo(@Nullable String version) throws IOException {
    Pointer pointer = Pointer.read(directory);
    String target = version == null ? previous(pointer) : version;
    if (!Files.isDirectory(version(target))) {
      throw new NoSuchFileException(
          version(target).toString(),
          null,
          "no such version; to list them: bsdb versions " + directory);
    }
    Database.open(version(target)).close();
    Files.deleteIfExists(version(target).resolve(Publication.UNFINISHED)); // in use now
    IOException notSynced = null;
    if (pointer == null || (version == null && !pointer.chain().contains(target))) {
      notSynced = Pointer.to(target).write(directory);
    } else if (!pointer.current().equals(target)) {
      notSynced = pointer.backTo(target).write(directory);
    }
    if (notSynced != null) {
      throw new IOException(
          target + " is current, but a power cut may undo that: " + notSynced, notSynced);
    }
    return target;
  }

  private String previous(@Nullable Pointer pointer) throws IOException {
    if (pointer == null) {
      throw new NoSuchFileException(
          directory.resolve(Pointer.FILE).toString(),
          null,
          "names no version, so there is nothing to roll back to; choose a version: bsdb rollback "
              + directory
              + " VERSION");
    }
    String previous = rollbackTarget(pointer).orElse(null);
    if (previous == null) {
      throw new NoSuchFileException(
          directory.toString(), null, "there is no version before " + pointer.current());
    }
    return previous;
  }

  /** The version that a rollback makes current. */
  Optional<String> rollbackTarget(Pointer pointer) throws IOException {
    for (String name : pointer.chain()) {
      if (Files.isDirectory(version(name))) {
        return Optional.of(name);
      }
    }
    return versionDirectories(directory).stream()
        .map(DurableFiles::name)
        .filter(name -> VersionName.NATURAL.compare(name, pointer.current()) < 0)
        .max(VersionName.NATURAL);
  }
}
