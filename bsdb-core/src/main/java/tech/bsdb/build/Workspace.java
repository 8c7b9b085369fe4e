package tech.bsdb.build;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;

/**
 * The directory where a build works until its database is published, and the publication protocol.
 *
 * <p>A new database is built beside its target, then renamed to it. A replacement is built inside
 * the target; its files, whose names are unique to it, are moved in, and the rename of the manifest
 * makes readers see the new database. A build killed before that rename leaves the old database in
 * place.
 *
 * <p>Only one build at a time replaces a database: meanwhile its directory is named {@code
 * .bsdb-build-replacing}, which no second build can take. A lock on a file in the directory
 * distinguishes a live build from a killed one, whose stale files the next build of the same target
 * removes ({@link WorkDirectory}).
 *
 * <p>Once the manifest is renamed, the build no longer fails: cleanup failures become warnings.
 */
public final class Workspace implements Closeable {
  private static final String MARK = "bsdb-build-";
  private static final int MAX_NAME = 200;
  private static final int MAX_MANIFEST_BYTES = 1 << 24;
  private static final int MAX_JOURNAL_BYTES = 1 << 16;
  private static final long POLL_MILLISECONDS = 20;

  /** Replacing is brief, and a build that took hours should not give up quickly. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private Path target;
  private final boolean overwrite;
  private boolean replaces;
  private final WorkDirectory work;
  private final @Nullable WorkDirectory temporary;
  private final List<Path> madeParents;
  private final List<Path> madeForTemporary;
  private final List<String> warnings = new ArrayList<>();
  private boolean published;
  private boolean abandoned;
  private boolean closed;

  private Workspace(
      Path target,
      boolean overwrite,
      boolean replaces,
      WorkDirectory work,
      @Nullable WorkDirectory temporary,
      List<Path> madeParents,
      List<Path> madeForTemporary) {
    this.target = target;
    this.overwrite = overwrite;
    this.replaces = replaces;
    this.work = work;
    this.temporary = temporary;
    this.madeParents = madeParents;
    this.madeForTemporary = madeForTemporary;
  }

  /**
   * Creates a workspace.
   *
   * @param requested the target
   * @param overwrite whether an existing database may be replaced
   * @param temporaryDirectory the directory for temporary files, or null to use the target's file
   *     system
   * @throws FileAlreadyExistsException if the target exists and may not be replaced
   * @throws IllegalArgumentException if the target or temporary directory lies inside a database
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
          target.toString(), null, "is the root of a file system; choose a directory in it");
    }
    refuseInDatabase("the target", target, parent);
    if (temporaryDirectory != null) {
      Path absolute = temporaryDirectory.toAbsolutePath().normalize();
      if (absolute.startsWith(target)) {
        throw new IllegalArgumentException(
            "the temporary directory "
                + temporaryDirectory
                + " lies inside the target "
                + target
                + "; choose another");
      }
      refuseInDatabase("the temporary directory", absolute, absolute);
    }
    List<Path> madeParents = new ArrayList<>();
    List<Path> madeForTemporary = new ArrayList<>();
    WorkDirectory work = null;
    try {
      if (!replaces) {
        makeParents(parent, madeParents);
      }
      work =
          replaces
              ? WorkDirectory.create(target, "." + MARK, recovery(target), null)
              : WorkDirectory.create(
                  parent,
                  "." + shortened(name.toString()) + "." + MARK,
                  WorkDirectory.Recovery.NONE,
                  null);
      WorkDirectory temporary = null;
      if (temporaryDirectory != null) {
        makeParents(temporaryDirectory.toAbsolutePath(), madeForTemporary);
        String of =
            DatabaseId.derive(target.toString().getBytes(StandardCharsets.UTF_8)).shortName();
        temporary =
            WorkDirectory.create(
                temporaryDirectory, MARK + of + "-", WorkDirectory.Recovery.NONE, work.token());
        work.note(temporary);
      }
      return new Workspace(
          target, overwrite, replaces, work, temporary, madeParents, madeForTemporary);
    } catch (IOException | RuntimeException e) {
      if (work != null) {
        work.remove();
      }
      removeIfEmpty(madeForTemporary);
      removeIfEmpty(madeParents);
      throw e;
    }
  }

  /** Rejects a path inside a database, with which it would be deleted. */
  private static void refuseInDatabase(String what, Path path, Path from) throws IOException {
    Path there = from;
    while (!Files.exists(there) && there.getParent() != null) {
      there = there.getParent();
    }
    for (Path above = there.toRealPath(); above != null; above = above.getParent()) {
      if (startsLikeManifest(above.resolve(Manifest.FILE_NAME))) {
        throw new IllegalArgumentException(
            what
                + " "
                + path
                + " lies inside the database "
                + above
                + "; choose another directory");
      }
    }
  }

  /** Shortens a name to leave room for our prefix and suffix in the 255 bytes of a file name. */
  private static String shortened(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= MAX_NAME ? name : "long-" + DatabaseId.derive(bytes);
  }

  private static void refuseUnlessReplaceable(Path target, boolean overwrite) throws IOException {
    if (!Files.isDirectory(target)) {
      throw new FileAlreadyExistsException(
          target.toString(),
          null,
          "is not a directory, so it cannot be a database; choose another target");
    }
    if (!overwrite) {
      throw new FileAlreadyExistsException(
          target.toString(),
          null,
          "already exists; replace it with --overwrite or choose another target");
    }
    if (!isDatabase(target) && holdsMoreThanStaleFiles(target)) {
      throw new FileAlreadyExistsException(
          target.toString(),
          null,
          "is not a bsdb database, so it is not overwritten; choose another target");
    }
  }

  /**
   * Whether a directory has a manifest with a valid magic number or, if that is damaged, only files
   * with names of database files.
   */
  private static boolean isDatabase(Path target) throws IOException {
    Path manifest = target.resolve(Manifest.FILE_NAME);
    if (!Files.isRegularFile(manifest)) {
      return false;
    }
    if (startsLikeManifest(manifest)) {
      return true;
    }
    try (Stream<Path> entries = Files.list(target)) {
      List<String> names =
          entries
              .filter(entry -> !WorkDirectory.isName(entry, "." + MARK))
              .map(entry -> String.valueOf(entry.getFileName()))
              .toList();
      return names.size() > 1 && names.stream().allMatch(Manifest::isFileName);
    }
  }

  private static boolean startsLikeManifest(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (InputStream start = Files.newInputStream(file)) {
      return FileFrame.startsAsHeader(start.readNBytes(Long.BYTES));
    }
  }

  private static boolean holdsMoreThanStaleFiles(Path target) throws IOException {
    try (Stream<Path> entries = Files.list(target)) {
      return entries.anyMatch(entry -> !WorkDirectory.isName(entry, "." + MARK));
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
        return; // in use by another process
      }
    }
  }

  /** The target directory of the database. */
  public Path target() {
    return target;
  }

  /** The directory where the database files are written. */
  public Path directory() {
    return work.path();
  }

  /** The directory for temporary files. */
  public Path temporaryDirectory() {
    return temporary == null ? work.path() : temporary.path();
  }

  /** Cleanup or sync failures after the database was published. */
  public List<String> warnings() {
    return List.copyOf(warnings);
  }

  /**
   * Publishes the database. {@link #directory} must contain exactly its files, including the
   * manifest, forced to the device.
   *
   * @param whileWaiting called repeatedly while waiting for another build; may throw to stop
   *     waiting
   * @throws InterruptedIOException if the thread is interrupted before the database is published
   */
  public void publish(Runnable whileWaiting) throws IOException {
    publish(whileWaiting, PATIENCE);
  }

  void publish(Runnable whileWaiting, Duration patience) throws IOException {
    refuseInterrupted();
    force(work.path());
    if (!replaces) {
      publishNew();
    }
    if (!published) {
      replace(whileWaiting, patience);
    }
  }

  private static void refuseInterrupted() throws InterruptedIOException {
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted before the database was published");
    }
  }

  /** Renames the directory; falls back to replacing if a replaceable database has appeared. */
  private void publishNew() throws IOException {
    try {
      move(work.path(), target);
    } catch (FileSystemException e) {
      if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
      if (overwrite) {
        refuseUnlessReplaceable(target, true);
        target = target.toRealPath();
        replaces = true;
        return;
      }
      throw new FileAlreadyExistsException(
          target.toString(), null, "was created during the build and was left unchanged");
    }
    published = true;
    afterwards(() -> Files.deleteIfExists(target.resolve(WorkDirectory.LOCK)));
    afterwards(() -> forceUninterrupted(target));
    afterwards(() -> forceParent(target));
    for (Path directory : madeParents) {
      afterwards(() -> forceParent(directory));
    }
  }

  /** Runs a step after the database was published; a failure becomes a warning. */
  private boolean afterwards(Step step) {
    try {
      step.run();
      return true;
    } catch (IOException e) {
      warnings.add("the database is at " + target + ", but a later step failed: " + e);
      return false;
    }
  }

  @FunctionalInterface
  private interface Step {
    void run() throws IOException;
  }

  private void replace(Runnable whileWaiting, Duration patience) throws IOException {
    acquireTurn(whileWaiting, patience);
    ManifestFile fresh = readManifest(work.path());
    Set<String> names = fresh.fileNames();
    Set<String> old = oldNames(fresh);
    Set<String> journal = new LinkedHashSet<>(names);
    journal.addAll(old);
    Path file = work.path().resolve(WorkDirectory.JOURNAL);
    Files.write(file, journal);
    force(file, StandardOpenOption.WRITE);
    force(work.path());
    List<Path> moved = new ArrayList<>();
    try {
      for (String name : names) {
        boolean there = Files.exists(target.resolve(name), LinkOption.NOFOLLOW_LINKS);
        move(work.path().resolve(name), target.resolve(name));
        if (!there) {
          moved.add(target.resolve(name));
        }
      }
      force(target);
      refuseInterrupted();
      move(work.path().resolve(Manifest.FILE_NAME), target.resolve(Manifest.FILE_NAME));
      published = true;
    } finally {
      if (!published) {
        for (Path each : moved) {
          Files.deleteIfExists(each);
        }
      }
    }
    if (!afterwards(() -> forceUninterrupted(target))) {
      abandoned = true; // a power cut may bring back the old database, so keep its files
      return;
    }
    for (String name : old) {
      if (!names.contains(name)) {
        afterwards(() -> deleteFile(target.resolve(name)));
      }
    }
    Path lock = target.resolve(WorkDirectory.LOCK);
    afterwards(
        () -> {
          if (WorkDirectory.isAbandonedLock(lock)) {
            Files.deleteIfExists(lock);
          }
        });
  }

  /** Waits until no other build is replacing the database, then takes the replacing name. */
  private void acquireTurn(Runnable whileWaiting, Duration patience) throws IOException {
    Path turn = target.resolve(WorkDirectory.REPLACING);
    long end = System.nanoTime() + patience.toNanos();
    while (!work.rename(turn)) {
      WorkDirectory.removeIfStale(turn, recovery(target));
      whileWaiting.run();
      if (System.nanoTime() - end > 0) {
        throw new IOException(
            target
                + ": another build has been replacing this database for "
                + patience.toSeconds()
                + " s (its directory is "
                + turn
                + "); end that build, then build again");
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while another build replaced " + target);
      }
    }
  }

  /** The files listed in the manifest being replaced; no others are ever deleted. */
  private Set<String> oldNames(ManifestFile fresh) throws IOException {
    if (!Files.exists(target.resolve(Manifest.FILE_NAME))) {
      return Set.of();
    }
    ManifestFile old;
    try {
      old = readManifest(target);
    } catch (CorruptDatabaseException | UnsupportedFormatException e) {
      warnings.add(
          "the replaced manifest could not be read, so its files were not deleted: "
              + e.getMessage());
      return Set.of();
    }
    Set<String> names = old.fileNames();
    if (!old.id().equals(fresh.id()) && !Collections.disjoint(names, fresh.fileNames())) {
      throw new IOException(
          target
              + ": the new database's files would have the same names as the old database's (ids "
              + fresh.id()
              + " and "
              + old.id()
              + "); choose another target");
    }
    return names;
  }

  private static ManifestFile readManifest(Path directory) throws IOException {
    Path file = directory.resolve(Manifest.FILE_NAME);
    if (Files.size(file) > MAX_MANIFEST_BYTES) {
      throw new CorruptDatabaseException(file, 0, "a manifest", Files.size(file) + " bytes");
    }
    return ManifestFile.decode(file, Files.readAllBytes(file));
  }

  /**
   * Removes the files of a build killed while replacing the database: those already moved in, or
   * not yet removed.
   */
  private static WorkDirectory.Recovery recovery(Path target) {
    return directory -> {
      Path journal = directory.resolve(WorkDirectory.JOURNAL);
      if (!directory.equals(target.resolve(WorkDirectory.REPLACING))
          || !Files.isRegularFile(journal, LinkOption.NOFOLLOW_LINKS)
          || Files.size(journal) > MAX_JOURNAL_BYTES) {
        return;
      }
      Set<String> current;
      try {
        current = readManifest(target).fileNames();
      } catch (IOException unknown) {
        return; // unknown which of them are needed
      }
      for (String name : Files.readAllLines(journal)) {
        boolean databaseFile = Manifest.isFileName(name) && !name.equals(Manifest.FILE_NAME);
        if (databaseFile && !current.contains(name)) {
          try {
            deleteFile(target.resolve(name));
          } catch (IOException ignored) {
            // unused and harmless
          }
        }
      }
    };
  }

  /** Deletes a file or a link, but not a directory. */
  private static void deleteFile(Path file) throws IOException {
    if (!Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      Files.deleteIfExists(file);
    }
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  private static void force(Path directory) throws IOException {
    force(directory, StandardOpenOption.READ);
  }

  private static void force(Path path, StandardOpenOption option) throws IOException {
    try (FileChannel channel = FileChannel.open(path, option)) {
      channel.force(true);
    }
  }

  private static void forceParent(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent != null) {
      forceUninterrupted(parent);
    }
  }

  /** Forces a directory to the device, even if interrupted; the interrupt flag stays set. */
  static void forceUninterrupted(Path directory) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          force(directory);
          return;
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Removes all unpublished files of the build. Does not fail once the database is published. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    if (published) {
      afterwards(this::clear);
    } else {
      clear();
    }
  }

  private void clear() throws IOException {
    try {
      if (temporary != null) {
        temporary.remove();
        removeIfEmpty(madeForTemporary);
      }
    } finally {
      if (abandoned || (published && !replaces)) {
        work.release();
      } else {
        work.remove();
      }
      if (!published) {
        removeIfEmpty(madeParents);
      }
    }
  }
}
