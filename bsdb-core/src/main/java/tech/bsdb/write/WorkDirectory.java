package tech.bsdb.write;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Manifest;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.io.OwnedNames;

/**
 * A build's private directory, marked as such and locked while the build runs.
 *
 * <p>The file {@code lock} serves both purposes: its content is the mark, and the holder of its
 * lock owns the directory. An unheld lock indicates a killed build. Only such a directory is ever
 * removed, only if all names in it and in its directories of databases are names that a build
 * creates, and never through a symbolic link.
 */
final class WorkDirectory {
  /** The directory of the temporary database of changes, in the temporary directory of a build. */
  static final String CHANGES = "changes.part";

  /** The file that marks the directory and carries the lock. */
  static final String LOCK = "lock";

  /** The file that lists what a replacement moves into the target and what it removes. */
  static final String JOURNAL = "names";

  /** The directory name of the build that is replacing the enclosing database. */
  static final String REPLACING = ".bsdb-build-replacing";

  private static final String MARK = "bsdb-workspace";
  private static final Pattern RANDOM = Pattern.compile("[0-9a-z]{1,13}");
  private static final Pattern PARTS = Pattern.compile("[0-9A-Za-z-]+\\.part");
  private static final Pattern SHARD_PARTS = Pattern.compile("shard-[0-9]{5}\\.part");
  private static final OwnedNames OURS =
      new OwnedNames(
          name -> name.equals(LOCK) || name.equals(JOURNAL) || isDatabaseFile(name),
          WorkDirectory::isDatabase,
          WorkDirectory::isDatabaseFile,
          /* links= */ true);
  private static final long STARTUP_MILLISECONDS = 60_000;
  private static final int MAX_MARK_BYTES = 1 << 14;

  /*
   * A process loses its lock on a file when it closes any channel to that file, so the lock files of builds running in
   * this virtual machine are never opened a second time. Directories are identified by their file keys, which survive
   * renaming; synchronizing on the set also keeps a directory from being renamed while another thread inspects it.
   */
  private static final Set<Object> LIVE = new HashSet<>();

  private final Object key;
  private final String token;
  private final FileChannel lock;
  private volatile Path path;

  private WorkDirectory(Path path, Object key, String token, FileChannel lock) {
    this.path = path;
    this.key = key;
    this.token = token;
    this.lock = lock;
  }

  /** Cleans up what a killed build left outside its directory. */
  @FunctionalInterface
  interface Recovery {
    /** Removes nothing but the directory itself. */
    Recovery NONE = directory -> {};

    /** Runs the cleanup; the directory still exists, and no other build touches it meanwhile. */
    void run(Path directory) throws IOException;
  }

  /**
   * Creates a directory, after removing those of killed builds with the same prefix.
   *
   * @param prefix the prefix of its name; random characters follow
   * @param recovery cleans up what killed builds left elsewhere
   * @param owner the token of the build's other directory, or null
   */
  static WorkDirectory create(Path parent, String prefix, Recovery recovery, @Nullable String owner)
      throws IOException {
    Path real = parent.toRealPath();
    removeStale(real, prefix, recovery);
    while (true) {
      String token = Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
      Path path = real.resolve(prefix + token);
      WorkDirectory made = tryCreate(path, token, owner);
      if (made != null) {
        return made;
      }
    }
  }

  /** Creates the directory with ordinary permissions, because it may become the database. */
  private static @Nullable WorkDirectory tryCreate(Path path, String token, @Nullable String owner)
      throws IOException {
    synchronized (LIVE) {
      try {
        Files.createDirectory(path);
      } catch (FileAlreadyExistsException e) {
        return null;
      }
      Object key = null;
      FileChannel channel = null;
      boolean complete = false;
      try {
        key = key(path);
        LIVE.add(key);
        channel =
            FileChannel.open(
                path.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        if (channel.tryLock() == null) {
          throw new IOException(path + ": another process locked it");
        }
        write(channel, MARK + " " + token + (owner == null ? "" : " " + owner) + "\n");
        complete = true;
        return new WorkDirectory(path, key, token, channel);
      } finally {
        if (!complete) {
          if (channel != null) {
            channel.close();
          }
          Files.deleteIfExists(path.resolve(LOCK));
          if (key != null) {
            LIVE.remove(key);
          }
          Files.deleteIfExists(path);
        }
      }
    }
  }

  private static void write(FileChannel channel, String text) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** The current path. */
  Path path() {
    return path;
  }

  /** The token that identifies this directory, wherever it is. */
  String token() {
    return token;
  }

  /**
   * Records the path of the build's other directory, for cleanup if the build is killed. The other
   * directory must carry this one's {@link #token}.
   */
  void note(WorkDirectory other) throws IOException {
    write(lock, other.path + "\n");
  }

  /**
   * Renames the directory to a name that only one live directory can have.
   *
   * @return false if another directory has that name
   */
  boolean rename(Path to) throws IOException {
    synchronized (LIVE) {
      if (Files.exists(to, LinkOption.NOFOLLOW_LINKS) && !isEmpty(to)) {
        return false;
      }
      try {
        Files.move(path, to, StandardCopyOption.ATOMIC_MOVE);
      } catch (FileSystemException e) {
        if (Files.exists(to, LinkOption.NOFOLLOW_LINKS) && !isEmpty(to)) {
          return false; // another process was faster
        }
        throw e;
      }
      path = to;
      return true;
    }
  }

  /** Whether a directory is empty, or was removed meanwhile. */
  private static boolean isEmpty(Path directory) throws IOException {
    try {
      BasicFileAttributes found =
          Files.readAttributes(directory, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!found.isDirectory()) {
        throw new FileAlreadyExistsException(
            directory.toString(), null, "is in the way of the build; move it away");
      }
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
        return !entries.iterator().hasNext();
      }
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  /** Gives up the directory: it became the database, or the next build removes it. */
  void release() throws IOException {
    try {
      lock.close();
    } finally {
      forget();
    }
  }

  private void forget() {
    synchronized (LIVE) {
      LIVE.remove(key);
    }
  }

  /**
   * Removes the directory. Holds the lock until nothing is in it: without the lock, another build
   * could take its name while files are being deleted, which would then be those of that build.
   */
  void remove() throws IOException {
    try {
      deleteContent(path);
    } catch (FileSystemException e) {
      if (!String.valueOf(e.getReason()).startsWith("Too many open files")) {
        throw e;
      }
      lock.close(); // deleting needs the descriptor that it held
      deleteContent(path);
    } finally {
      release(); // before the directory is gone: a new one could reuse its key
    }
    DurableFiles.deleteIfEmpty(path);
  }

  /**
   * Removes the directories of killed builds with this name prefix. Uncertain ones, and those that
   * cannot be removed, stay; they are harmless.
   */
  private static void removeStale(Path parent, String prefix, Recovery recovery)
      throws IOException {
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(parent, entry -> isName(entry, prefix))) {
      for (Path entry : entries) {
        removeIfStale(entry, recovery, null);
      }
    } catch (AccessDeniedException | DirectoryIteratorException unreadable) {
      // a writable but unreadable directory
    }
  }

  /** Whether a path has the name of a build directory with this prefix. */
  static boolean isName(Path path, String prefix) {
    String name = DurableFiles.name(path);
    return name.startsWith(prefix) && RANDOM.matcher(name.substring(prefix.length())).matches();
  }

  /**
   * Removes a directory left by a killed build, and what that build left elsewhere.
   *
   * @param recovery cleans up what the build left elsewhere
   */
  static void removeIfStale(Path directory, Recovery recovery) {
    removeIfStale(directory, recovery, null);
  }

  private static void removeIfStale(Path directory, Recovery recovery, @Nullable String owner) {
    synchronized (LIVE) {
      try {
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
            || LIVE.contains(key(directory))
            || isStarting(directory)) {
          return;
        }
        if (isEmpty(directory)) {
          Files.deleteIfExists(directory);
        } else {
          removeUnlessLocked(directory, recovery, owner);
        }
      } catch (IOException | OverlappingFileLockException | InvalidPathException e) {
        // not ours, or not removable
      }
    }
  }

  private static void removeUnlessLocked(Path directory, Recovery recovery, @Nullable String owner)
      throws IOException {
    Path file = directory.resolve(LOCK);
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    // The directory may be removed meanwhile and its name reused: the opened file must still be the
    // one in place once it is locked.
    Object before = key(file);
    try (FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS);
        FileLock held = channel.tryLock()) {
      if (held == null || !before.equals(key(file))) {
        return;
      }
      String mark = read(channel);
      if (isMark(mark, owner) && OURS.areAllIn(directory)) {
        removeNoted(mark);
        recovery.run(directory);
        deleteContent(directory);
        DurableFiles.deleteIfEmpty(directory);
      }
    }
  }

  /**
   * Whether a build may be starting in a directory: a new directory is first empty, then holds only
   * an unlocked lock file. Empty directories are removed only while empty.
   */
  private static boolean isStarting(Path directory) throws IOException {
    if (DurableFiles.name(directory).equals(REPLACING)) {
      return false; // it was created under another name
    }
    for (Path entry : DurableFiles.list(directory)) {
      if (!DurableFiles.name(entry).equals(LOCK) || Files.size(entry) > 0) {
        return false;
      }
    }
    long modified = Files.getLastModifiedTime(directory, LinkOption.NOFOLLOW_LINKS).toMillis();
    return System.currentTimeMillis() - modified < STARTUP_MILLISECONDS;
  }

  private static String read(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(MAX_MARK_BYTES);
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
      // read to the end
    }
    return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
  }

  /** Whether a lock file's content is our mark, possibly truncated because the build was killed. */
  private static boolean isMark(String content, @Nullable String owner) {
    if (owner != null) {
      String first = content.lines().findFirst().orElse("");
      return first.startsWith(MARK + " ") && first.endsWith(" " + owner);
    }
    return content.startsWith(MARK + " ") || (MARK + " ").startsWith(content);
  }

  private static boolean isDatabaseFile(String name) {
    return PARTS.matcher(name).matches() || Manifest.isFileName(name);
  }

  /** Whether the name is that of a shard, finished or not, or of the changes of a merge. */
  private static boolean isDatabase(String name) {
    return Manifest.isShardDirectory(name)
        || SHARD_PARTS.matcher(name).matches()
        || name.equals(CHANGES);
  }

  /**
   * Removes the other directory that a mark names. The path proves nothing; that directory's own
   * mark must name this build.
   */
  private static void removeNoted(String mark) {
    List<String> lines = mark.lines().toList();
    String[] words = lines.isEmpty() ? new String[0] : lines.get(0).split(" ", -1);
    if (lines.size() == 2 && words.length == 2 && RANDOM.matcher(words[1]).matches()) {
      Path other = Path.of(lines.get(1));
      if (other.isAbsolute()) {
        removeIfStale(other, Recovery.NONE, words[1]);
      }
    }
  }

  /** Whether a file is a lock that a killed build left in its database. */
  static boolean isAbandonedLock(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        || Files.size(file) > MAX_MARK_BYTES) {
      return false;
    }
    return Files.readString(file, StandardCharsets.ISO_8859_1).startsWith(MARK + " ");
  }

  private static Object key(Path path) throws IOException {
    Object key =
        Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey();
    return key == null ? path : key;
  }

  /** Deletes our files, the mark last, so that a partly deleted directory is still marked. */
  private static void deleteContent(Path directory) throws IOException {
    if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    boolean journal = Files.exists(directory.resolve(JOURNAL), LinkOption.NOFOLLOW_LINKS);
    if (journal) { // what it names must be gone for good before it is
      DurableFiles.forceParent(directory);
    }
    OURS.deleteIn(directory, LOCK);
    if (journal) { // its name blocks other builds, so a power cut must not lose the mark first
      DurableFiles.forceUninterrupted(directory);
    }
    Files.deleteIfExists(directory.resolve(LOCK));
  }
}
