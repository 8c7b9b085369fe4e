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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;

/**
 * A directory of versions of a database, one of them current.
 *
 * <pre>
 * STORE/CURRENT              the current version's name; below it those that rollbacks go back to
 * STORE/20261121T151400Z/    a version: a plain database
 * STORE/.lock                and other hidden names: what publishing needs, never a version
 * </pre>
 *
 * <p>Thread-safe; it holds nothing open. All changes are safe beside those of other processes.
 */
public final class Store {
  private final Path directory;

  private Store(Path directory) {
    this.directory = directory;
  }

  /** Whether a directory is a store that has a current version: whether it has the file CURRENT. */
  public static boolean isStore(Path directory) {
    Path pointer = directory.resolve(Pointer.FILE);
    return Files.isRegularFile(pointer) || Files.isSymbolicLink(pointer);
  }

  /**
   * Opens a store. It need not have a current version, if all that is there are databases.
   *
   * @throws NoSuchFileException if there is nothing
   * @throws NotDirectoryException if it is not a store
   */
  public static Store open(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      throw new NoSuchFileException(
          directory.toString(),
          null,
          "no such directory; a store is made by: bsdb publish DB " + directory);
    }
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(directory + " is not a directory; a store is one");
    }
    if (!isStore(directory)) {
      if (Directories.isDatabase(directory)) {
        throw new NotDirectoryException(directory + " is not a store: it is a single database");
      }
      if (!holdsDatabasesOnly(directory) || versionDirectories(directory).isEmpty()) {
        throw new NotDirectoryException(
            directory
                + " is not a store: it has no "
                + Pointer.FILE
                + "; a store is made by: bsdb publish DB STORE");
      }
    }
    return new Store(directory);
  }

  /** Where it is. */
  public Path directory() {
    return directory;
  }

  /** The name of the current version; null if none is named. */
  public @Nullable String current() throws IOException {
    Pointer pointer = Pointer.read(directory);
    return pointer == null ? null : pointer.current();
  }

  /** The versions in the natural order of their names: v9 before v10. */
  public List<StoredVersion> versions() throws IOException {
    String current = current();
    List<StoredVersion> versions = new ArrayList<>();
    for (Path version : versionDirectories(directory)) {
      try {
        String name = Directories.name(version);
        versions.add(stored(name, version, name.equals(current)));
      } catch (NoSuchFileException removedMeanwhile) {
        // it is not there any more
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
          new StoredVersion.Facts(
              name, version, current, modified, statistics.records(), statistics.databaseBytes()));
    } catch (IOException | RuntimeException cannotBeOpened) {
      return new StoredVersion(
          new StoredVersion.Facts(name, version, current, modified, -1, bytes(version)));
    }
  }

  private static long bytes(Path version) throws IOException {
    long bytes = 0;
    for (Path file : Directories.list(version)) {
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        bytes += Files.size(file);
      }
    }
    return bytes;
  }

  /** The directory of a version, whether or not there is one. */
  Path version(String name) {
    return directory.resolve(name);
  }

  static List<Path> versionDirectories(Path store) throws IOException {
    try (Stream<Path> entries = Files.list(store)) {
      return entries
          .filter(entry -> VersionName.isValid(Directories.name(entry)) && Files.isDirectory(entry))
          .filter(entry -> !isOfFileSystem(entry))
          .sorted(Comparator.comparing(Directories::name, VersionName.NATURAL))
          .toList();
    }
  }

  /** Whether all that is not hidden in a directory are databases. */
  static boolean holdsDatabasesOnly(Path directory) throws IOException {
    for (Path entry : Directories.list(directory)) {
      String name = Directories.name(entry);
      if (!name.startsWith(".") && !isOfFileSystem(entry) && !Directories.isDatabase(entry)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isOfFileSystem(Path entry) {
    return Directories.name(entry).equals("lost+found");
  }

  /**
   * Makes another version the current one. That version is opened before, so that one that is
   * damaged in a file's header, footer or length is refused.
   *
   * @param version its name, or null for the one that was current before; where that is not known,
   *     the one whose name comes before the current one's
   * @return its name
   * @throws NoSuchFileException if there is no such version, or none to go back to
   * @throws tech.bsdb.error.CorruptDatabaseException if it is damaged; what was current is current
   *     still
   * @throws InterruptedIOException if the thread is interrupted, which it stays; what was current
   *     is current still
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
    String target = version == null ? before(pointer) : version;
    if (!Files.isDirectory(version(target))) {
      throw new NoSuchFileException(
          version(target).toString(),
          null,
          "no such version; to list them: bsdb versions " + directory);
    }
    Database.open(version(target)).close();
    Files.deleteIfExists(version(target).resolve(Publication.UNFINISHED)); // it is wanted now
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

  private String before(@Nullable Pointer pointer) throws IOException {
    if (pointer == null) {
      throw new NoSuchFileException(
          directory.resolve(Pointer.FILE).toString(),
          null,
          "names no version, so there is none to go back to; name one: bsdb rollback "
              + directory
              + " VERSION");
    }
    String before = goesBackTo(pointer).orElse(null);
    if (before == null) {
      throw new NoSuchFileException(
          directory.toString(), null, "there is no version before " + pointer.current());
    }
    return before;
  }

  /** The version that a rollback goes back to. */
  Optional<String> goesBackTo(Pointer pointer) throws IOException {
    for (String name : pointer.chain()) {
      if (Files.isDirectory(version(name))) {
        return Optional.of(name);
      }
    }
    return versionDirectories(directory).stream()
        .map(Directories::name)
        .filter(name -> VersionName.NATURAL.compare(name, pointer.current()) < 0)
        .max(VersionName.NATURAL);
  }
}
