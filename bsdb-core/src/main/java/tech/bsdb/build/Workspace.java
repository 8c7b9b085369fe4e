package tech.bsdb.build;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.Manifest;

/**
 * The directory in which a build works until its database is published, and the rules of
 * publishing.
 *
 * <p>A new database is built beside its target and renamed to it. One that replaces another is
 * built inside the target; its files, whose names no other database has, are moved in one by one,
 * and the rename of the manifest is the moment at which readers see the new database: at every
 * other moment a killed build leaves the old one.
 *
 * <p>A lock on a file in the directory tells a living build from a killed one, whose left-overs the
 * next build of the same target removes.
 */
public final class Workspace implements Closeable {
  private static final String MARK = "bsdb-build-";
  private static final String LOCK = "lock";
  private static final int MAX_NAME = 200;

  private final Path target;
  private final boolean replaces;
  private final LockedDirectory work;
  private final @Nullable LockedDirectory temporary;
  private final List<Path> madeParents;
  private final List<Path> madeForTemporary;
  private boolean published;
  private boolean closed;

  private Workspace(
      Path target,
      boolean replaces,
      LockedDirectory work,
      @Nullable LockedDirectory temporary,
      List<Path> madeParents,
      List<Path> madeForTemporary) {
    this.target = target;
    this.replaces = replaces;
    this.work = work;
    this.temporary = temporary;
    this.madeParents = madeParents;
    this.madeForTemporary = madeForTemporary;
  }

  /*
   * A process gives up its lock on a file when it closes any opening of the file, so the lock files of builds that
   * live in this virtual machine are never opened a second time.
   */
  private static final Set<Path> LIVING = ConcurrentHashMap.newKeySet();

  /** A directory of our own that is locked while we live. */
  private record LockedDirectory(Path path, FileChannel lock) {
    static LockedDirectory create(Path parent, String prefix) throws IOException {
      Path realParent = parent.toRealPath();
      removeLeftOvers(realParent, prefix);
      Path path = createNew(realParent, prefix);
      try {
        FileChannel channel =
            FileChannel.open(
                path.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try {
          if (channel.tryLock() == null) {
            throw new IOException(path + ": another build took it");
          }
          return new LockedDirectory(path, channel);
        } catch (IOException | RuntimeException e) {
          channel.close();
          throw e;
        }
      } catch (IOException | RuntimeException e) {
        LIVING.remove(path);
        deleteTree(path);
        throw e;
      }
    }

    /** As ordinary as any new directory, because it may become the database. */
    private static Path createNew(Path parent, String prefix) throws IOException {
      while (true) {
        String random = Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
        Path path = parent.resolve(prefix + random);
        LIVING.add(path);
        try {
          return Files.createDirectory(path);
        } catch (FileAlreadyExistsException e) {
          LIVING.remove(path);
        } catch (IOException | RuntimeException e) {
          LIVING.remove(path);
          throw e;
        }
      }
    }

    /**
     * Notes in the lock where the build's other directory is, for whoever clears up after a killed
     * build.
     */
    void note(Path other) throws IOException {
      lock.write(ByteBuffer.wrap(other.toString().getBytes(StandardCharsets.UTF_8)));
    }

    void unlock() throws IOException {
      lock.close();
      LIVING.remove(path);
    }

    /** Closes the lock first: where descriptors are scarce, deleting needs the one that it held. */
    void remove() throws IOException {
      try {
        lock.close();
        deleteTree(path);
      } finally {
        LIVING.remove(path);
      }
    }
  }

  /**
   * Makes a workspace.
   *
   * @param requested the target
   * @param overwrite whether a database there may be replaced
   * @param temporaryDirectory where temporary files shall lie, or null for the target's own file
   *     system
   * @throws FileAlreadyExistsException if something is there that may not be replaced
   */
  public static Workspace create(
      Path requested, boolean overwrite, @Nullable Path temporaryDirectory) throws IOException {
    Path target = requested.toAbsolutePath().normalize();
    boolean replaces = false;
    if (Files.exists(target) || Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      refuseUnlessReplaceable(target, overwrite);
      target = target.toRealPath();
      replaces = true;
    }
    Path name = target.getFileName();
    Path parent = target.getParent();
    if (name == null || parent == null) {
      throw new FileAlreadyExistsException(
          target.toString(), null, "is a file system's root; choose a directory in it");
    }
    if (temporaryDirectory != null
        && temporaryDirectory.toAbsolutePath().normalize().startsWith(target)) {
      throw new IllegalArgumentException(
          "the temporary directory "
              + temporaryDirectory
              + " lies in the target "
              + target
              + "; choose another");
    }
    List<Path> madeParents = new ArrayList<>();
    List<Path> madeForTemporary = new ArrayList<>();
    LockedDirectory work = null;
    try {
      if (!replaces) {
        makeParents(parent, madeParents);
      }
      work =
          replaces
              ? LockedDirectory.create(target, "." + MARK)
              : LockedDirectory.create(parent, "." + shortened(name.toString()) + "." + MARK);
      LockedDirectory temporary = null;
      if (temporaryDirectory != null) {
        makeParents(temporaryDirectory.toAbsolutePath(), madeForTemporary);
        String of =
            DatabaseId.derive(target.toString().getBytes(StandardCharsets.UTF_8)).shortName();
        temporary = LockedDirectory.create(temporaryDirectory, MARK + of + "-");
        work.note(temporary.path);
      }
      return new Workspace(target, replaces, work, temporary, madeParents, madeForTemporary);
    } catch (IOException | RuntimeException e) {
      if (work != null) {
        work.remove();
      }
      removeIfEmpty(madeForTemporary);
      removeIfEmpty(madeParents);
      throw e;
    }
  }

  /** A name that leaves room for ours around it in the 255 bytes of a file name. */
  private static String shortened(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= MAX_NAME ? name : "long-" + DatabaseId.derive(bytes);
  }

  private static void refuseUnlessReplaceable(Path target, boolean overwrite) throws IOException {
    if (!Files.isDirectory(target)) {
      throw new FileAlreadyExistsException(
          target.toString(),
          null,
          "is not a directory; a database is one, so choose another target");
    }
    if (!overwrite) {
      throw new FileAlreadyExistsException(
          target.toString(),
          null,
          "exists; overwrite it on purpose (--overwrite) or choose another target");
    }
    if (!isDatabase(target) && holdsMoreThanLeftOvers(target)) {
      throw new FileAlreadyExistsException(
          target.toString(),
          null,
          "is not a bsdb database, so it is not overwritten; choose another target");
    }
  }

  /**
   * Whether there is a manifest that begins as all of ours do, or, if it is damaged, only files
   * named as ours.
   */
  private static boolean isDatabase(Path target) throws IOException {
    Path manifest = target.resolve(Manifest.FILE_NAME);
    if (!Files.isRegularFile(manifest)) {
      return false;
    }
    try (InputStream start = Files.newInputStream(manifest)) {
      if (FileFrame.startsAsHeader(start.readNBytes(Long.BYTES))) {
        return true;
      }
    }
    try (Stream<Path> entries = Files.list(target)) {
      List<String> names = entries.map(entry -> String.valueOf(entry.getFileName())).toList();
      return names.size() > 1 && names.stream().allMatch(Manifest::isFileName);
    }
  }

  private static boolean holdsMoreThanLeftOvers(Path target) throws IOException {
    try (Stream<Path> entries = Files.list(target)) {
      return entries.anyMatch(entry -> !String.valueOf(entry.getFileName()).startsWith("." + MARK));
    }
  }

  private static void makeParents(Path directory, List<Path> made) throws IOException {
    List<Path> missing = new ArrayList<>();
    for (Path path = directory; path != null && !Files.exists(path); path = path.getParent()) {
      missing.add(path);
    }
    Collections.reverse(missing);
    for (Path path : missing) {
      Files.createDirectory(path);
      made.add(0, path);
    }
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(directory.toString());
    }
  }

  private static void removeIfEmpty(List<Path> directories) {
    for (Path directory : directories) {
      try {
        Files.deleteIfExists(directory);
      } catch (IOException e) {
        return; // somebody else uses it now
      }
    }
  }

  private static void removeLeftOvers(Path parent, String prefix) throws IOException {
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(
            parent, entry -> String.valueOf(entry.getFileName()).startsWith(prefix))) {
      for (Path entry : entries) {
        if (isLeftOver(entry)) {
          removeNoted(entry);
          deleteTree(entry);
        }
      }
    }
  }

  /**
   * Removes the temporary directory that the lock of a killed build names, if it is a left-over
   * too.
   */
  private static void removeNoted(Path leftOver) throws IOException {
    Path lock = leftOver.resolve(LOCK);
    String noted = Files.exists(lock) ? Files.readString(lock) : "";
    Path other = Path.of(noted);
    if (String.valueOf(other.getFileName()).startsWith(MARK)
        && Files.isDirectory(other)
        && isLeftOver(other)) {
      deleteTree(other);
    }
  }

  private static boolean isLeftOver(Path directory) throws IOException {
    if (LIVING.contains(directory)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    } catch (NoSuchFileException e) {
      return Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) && !isBeingBorn(directory);
    } catch (IOException e) {
      return false; // not ours to remove
    }
  }

  /**
   * Between the making of its directory and of its lock, a build is there with an empty directory.
   */
  private static boolean isBeingBorn(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.findAny().isEmpty()
          && System.currentTimeMillis() - Files.getLastModifiedTime(directory).toMillis() < 60_000;
    }
  }

  private static void deleteTree(Path directory) throws IOException {
    if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    List<Path> entries;
    try (Stream<Path> list = Files.list(directory)) {
      entries = list.toList();
    }
    for (Path entry : entries) {
      Files.deleteIfExists(entry);
    }
    Files.deleteIfExists(directory);
  }

  /** Where the database will be. */
  public Path target() {
    return target;
  }

  /** Where its files are written. */
  public Path directory() {
    return work.path;
  }

  /** Where files are written that are not part of it. */
  public Path temporaryDirectory() {
    return temporary == null ? work.path : temporary.path;
  }

  /**
   * Publishes the database: all its files are in {@link #directory}, forced to the device, the
   * manifest among them, and nothing else.
   */
  public void publish() throws IOException {
    force(work.path);
    if (replaces) {
      replace();
    } else {
      moveToNew(work.path, target);
      published = true;
      Files.deleteIfExists(target.resolve(LOCK));
      Path parent = target.getParent();
      if (parent != null) {
        force(parent);
      }
    }
  }

  private void replace() throws IOException {
    Set<String> names = new HashSet<>();
    Set<String> old = new HashSet<>();
    try (Stream<Path> entries = Files.list(target)) {
      entries.forEach(entry -> old.add(String.valueOf(entry.getFileName())));
    }
    List<Path> moved = new ArrayList<>();
    try {
      try (Stream<Path> entries = Files.list(work.path)) {
        for (Path file : entries.toList()) {
          String name = String.valueOf(file.getFileName());
          names.add(name);
          if (!name.equals(Manifest.FILE_NAME) && !name.equals(LOCK)) {
            move(file, target.resolve(name));
            if (!old.contains(name)) {
              moved.add(target.resolve(name));
            }
          }
        }
      }
      force(target);
      move(work.path.resolve(Manifest.FILE_NAME), target.resolve(Manifest.FILE_NAME));
      published = true;
    } finally {
      if (!published) {
        for (Path file : moved) {
          Files.deleteIfExists(file);
        }
      }
    }
    force(target);
    for (String name : old) {
      if (name.endsWith(".bsdb") && !names.contains(name)) {
        Files.deleteIfExists(target.resolve(name));
      }
    }
  }

  private static void moveToNew(Path from, Path to) throws IOException {
    try {
      move(from, to);
    } catch (FileSystemException e) {
      if (Files.exists(to, LinkOption.NOFOLLOW_LINKS)) {
        throw new FileAlreadyExistsException(
            to.toString(), null, "came into being while the build ran");
      }
      throw e;
    }
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  private static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Removes every file of the build that was not published. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (temporary != null) {
        temporary.remove();
        removeIfEmpty(madeForTemporary);
      }
    } finally {
      if (!published || replaces) {
        work.remove();
      } else {
        work.unlock();
      }
      if (!published) {
        removeIfEmpty(madeParents);
      }
    }
  }
}
