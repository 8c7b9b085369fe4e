package tech.bsdb.mirror;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.remote.RemoteOptions;

/**
 * The cache of one user, which processes share.
 *
 * <pre>
 * CACHE/0f1e2d...(32 digits)/    the small files of the database or the set with this id
 * CACHE/pages                    pages of all databases, if such are kept
 * CACHE/.arriving/               files on their way in, and directories on their way out
 * </pre>
 *
 * <p>Files come in whole, by renaming, and never change; directories go by renaming. Thus any
 * number of processes may do both at once, and may be killed at any time. A process that finds
 * files gone brings them again. Thread-safe.
 */
final class CacheDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(CacheDirectory.class);

  private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");
  private static final String ARRIVING = ".arriving";

  /** Long after any process that would still use it. */
  private static final Duration ABANDONED = Duration.ofDays(2);

  /** How many databases of this process use each directory. */
  private static final Map<Path, Integer> USERS = new HashMap<>();

  private final Path path;
  private final Path arriving;

  private CacheDirectory(Path path) {
    this.path = path;
    this.arriving = path.resolve(ARRIVING);
  }

  /**
   * Opens the cache of the options, otherwise that of the user; creates it if there is none.
   *
   * @throws FileSystemException if others may write to it
   */
  static CacheDirectory open(RemoteOptions options) throws IOException {
    Path given = options.cache();
    Path path = given != null ? given : ofUser(System.getenv());
    CacheDirectory cache;
    try {
      create(path);
      cache = new CacheDirectory(path.toRealPath());
    } catch (FileSystemException e) {
      String why = e.getReason() == null ? "" : ": " + e.getReason();
      throw (FileSystemException)
          new FileSystemException(
                  path.toString(),
                  null,
                  "this cache directory cannot be made"
                      + why
                      + "; choose another one by BSDB_CACHE")
              .initCause(e);
    }
    cache.refuseIfShared();
    create(cache.arriving);
    return cache;
  }

  /** The cache of the user by the variables of the environment. */
  static Path ofUser(Map<String, String> environment) {
    String own = environment.getOrDefault("BSDB_CACHE", "");
    if (!own.isEmpty()) {
      return Path.of(own);
    }
    String all = environment.getOrDefault("XDG_CACHE_HOME", "");
    return all.startsWith("/") // the specification tells to ignore others
        ? Path.of(all, "bsdb")
        : Path.of(System.getProperty("user.home"), ".cache", "bsdb");
  }

  private static boolean isPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /** Creates a directory for its owner alone, and those above it. */
  private static void create(Path directory) throws IOException {
    if (Files.isDirectory(directory)) {
      return;
    }
    FileAttribute<?>[] attributes =
        isPosix(directory)
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
            }
            : new FileAttribute<?>[0];
    Files.createDirectories(directory, attributes);
  }

  private void refuseIfShared() throws IOException {
    if (isPosix(path)) {
      Set<PosixFilePermission> who = Files.getPosixFilePermissions(path);
      if (who.contains(PosixFilePermission.GROUP_WRITE)
          || who.contains(PosixFilePermission.OTHERS_WRITE)) {
        throw new FileSystemException(
            path.toString(),
            null,
            "others may write to this cache directory; take that away (chmod go-w), or choose"
                + " another one by BSDB_CACHE");
      }
    }
  }

  /** The file of pages, which need not exist. */
  Path pages() {
    return path.resolve("pages");
  }

  /** The directory of a database or a set, which need not exist. */
  Path of(DatabaseId id) {
    return path.resolve(id.toString());
  }

  /**
   * Keeps the directory of a database or a set until it is released, and says that it is in use.
   * The first file that is taken makes the directory.
   */
  Path hold(DatabaseId id) throws IOException {
    Path directory = of(id);
    synchronized (USERS) {
      USERS.merge(directory, 1, Integer::sum);
    }
    try {
      Files.setLastModifiedTime(directory, FileTime.from(Instant.now())); // others go before it
    } catch (NoSuchFileException e) {
      // not here yet, or another process has just removed it
    } catch (IOException | RuntimeException e) {
      release(directory);
      throw e;
    }
    return directory;
  }

  /** Ends one {@link #hold}. */
  void release(Path directory) {
    synchronized (USERS) {
      USERS.computeIfPresent(directory, (held, users) -> users == 1 ? null : users - 1);
    }
  }

  /** A new file of this process alone, empty, to become one of the cache. */
  Path arriving() throws IOException {
    try {
      return Files.createTempFile(arriving, "", "");
    } catch (NoSuchFileException e) {
      create(arriving);
      return Files.createTempFile(arriving, "", "");
    }
  }

  /** Makes an arrived file one of the cache; replaces one that is there. */
  static void take(Path arrived, Path file) throws IOException {
    Path directory = file.getParent();
    if (directory != null) {
      create(directory);
    }
    Files.move(arrived, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** A directory of the cache, its size and its last use. */
  private record Kept(Path directory, long bytes, FileTime used) {}

  /**
   * Removes directories that were used longest ago, and are not {@linkplain #hold held} by this
   * process, until at most {@code most} bytes are left. What cannot be removed stays.
   */
  void trim(long most) {
    try {
      removeAbandoned();
      List<Kept> all = new ArrayList<>();
      long bytes = 0;
      try (DirectoryStream<Path> found = Files.newDirectoryStream(path, CacheDirectory::isOfId)) {
        for (Path directory : found) {
          Kept kept = look(directory);
          if (kept != null) {
            all.add(kept);
            bytes += kept.bytes;
          }
        }
      }
      all.sort(Comparator.comparing(Kept::used));
      for (Kept oldest : all) {
        if (bytes <= most) {
          return;
        }
        bytes -= remove(oldest.directory) ? oldest.bytes : 0;
      }
    } catch (IOException | UncheckedIOException e) {
      LOG.debug("{}: the cache cannot be trimmed", path, e);
    }
  }

  private static boolean isOfId(Path directory) {
    Path name = directory.getFileName();
    return name != null && ID.matcher(name.toString()).matches();
  }

  /** Returns null if it is gone. */
  private static @Nullable Kept look(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      long bytes = 0;
      for (Path file : (Iterable<Path>) files::iterator) {
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          bytes += Files.size(file);
        }
      }
      return new Kept(directory, bytes, Files.getLastModifiedTime(directory));
    } catch (NoSuchFileException e) {
      return null;
    } catch (UncheckedIOException e) {
      if (e.getCause() instanceof NoSuchFileException) {
        return null;
      }
      throw e;
    }
  }

  /** Removes a directory, unless this process holds it. */
  private boolean remove(Path directory) throws IOException {
    Path going = arriving();
    synchronized (USERS) {
      if (USERS.containsKey(directory)) {
        Files.deleteIfExists(going);
        return false;
      }
      Files.delete(going);
      try {
        Files.move(directory, going, StandardCopyOption.ATOMIC_MOVE);
      } catch (NoSuchFileException e) {
        return true;
      }
    }
    deleteTree(going);
    return true;
  }

  /** Removes what processes left that were killed. */
  private void removeAbandoned() throws IOException {
    Instant before = Instant.now().minus(ABANDONED);
    try (DirectoryStream<Path> found = Files.newDirectoryStream(arriving)) {
      for (Path left : found) {
        try {
          if (Files.getLastModifiedTime(left).toInstant().isBefore(before)) {
            deleteTree(left);
          }
        } catch (NoSuchFileException e) {
          // another process was faster
        }
      }
    }
  }

  private static void deleteTree(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (NoSuchFileException e) {
      // gone
    } catch (UncheckedIOException e) {
      if (!(e.getCause() instanceof NoSuchFileException)) {
        throw e;
      }
    }
  }
}
