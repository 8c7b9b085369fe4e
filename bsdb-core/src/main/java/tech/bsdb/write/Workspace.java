package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.Manifest;
import tech.bsdb.io.DurableFiles;

/**
 * The directory where a build works until its database is published, and the publication protocol.
 *
 * <p>A new database is built beside its target, then renamed to it. A replacement is built inside
 * the target; its files, whose names are unique to it, are moved in, and the rename of the manifest
 * makes readers see the new database ({@link Replacement}). A build killed before that rename
 * leaves the old database in place. A set of shards is published like a database, with the files of
 * each shard in a directory of its own.
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
  private static final long POLL_MILLISECONDS = 20;

  /** How often parents are made, which builds that fail may remove meanwhile. */
  private static final int ATTEMPTS = 100;

  /** Replacing is brief, and a build that took hours should not give up quickly. */
  static final Duration PATIENCE = Duration.ofMinutes(5);

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
    for (int attempt = 1; ; attempt++) {
      try {
        return tryCreate(requested, overwrite, temporaryDirectory);
      } catch (NoSuchFileException e) {
        // Another build may have made a parent, failed, and removed it while it was empty.
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static Workspace tryCreate(
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
              ? workIn(target)
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
      DurableFiles.removeIfEmpty(madeForTemporary);
      DurableFiles.removeIfEmpty(madeParents);
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
    if (!isDatabase(target) && !entries(target).isEmpty()) {
      throw new FileAlreadyExistsException(
          target.toString(),
          null,
          "is not a bsdb database, so it is not overwritten; choose another target");
    }
  }

  /**
   * Whether a directory has a manifest with a valid magic number or, if that is damaged, only files
   * and shards with names that those of databases have.
   */
  private static boolean isDatabase(Path target) throws IOException {
    Path manifest = target.resolve(Manifest.FILE_NAME);
    if (!Files.isRegularFile(manifest)) {
      return false;
    }
    if (startsLikeManifest(manifest)) {
      return true;
    }
    List<Path> entries = entries(target);
    for (Path entry : entries) {
      if (!Manifest.isFileName(DurableFiles.name(entry)) && !isShardOnly(entry)) {
        return false;
      }
    }
    return entries.size() > 1;
  }

  /** What a target holds besides the directories of builds. */
  private static List<Path> entries(Path target) throws IOException {
    List<Path> entries = new ArrayList<>(DurableFiles.list(target));
    entries.removeIf(entry -> WorkDirectory.isName(entry, "." + MARK));
    return entries;
  }

  /** Whether a path is the directory of a shard with nothing else in it. */
  private static boolean isShardOnly(Path path) throws IOException {
    return isShard(path)
        && DurableFiles.list(path).stream()
            .allMatch(entry -> Manifest.isFileName(DurableFiles.name(entry)));
  }

  private static boolean startsLikeManifest(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (InputStream start = Files.newInputStream(file)) {
      return FileFrame.startsAsHeader(start.readNBytes(Long.BYTES));
    }
  }

  private static void makeParents(Path directory, List<Path> made) throws IOException {
    DurableFiles.makeDirectories(directory, made);
    if (!Files.isDirectory(directory)) {
      throw Files.exists(directory)
          ? new NotDirectoryException(directory.toString())
          : new NoSuchFileException(directory.toString());
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
   * manifest, forced to the device; those of a shard in its directory, which this call forces.
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
    forceShards();
    DurableFiles.force(work.path());
    if (!replaces) {
      publishNew();
    }
    if (!published) {
      replace(whileWaiting, patience);
    }
  }

  private void forceShards() throws IOException {
    for (Path entry : DurableFiles.list(work.path())) {
      if (isShard(entry)) {
        DurableFiles.force(entry);
      }
    }
  }

  private static boolean isShard(Path path) {
    return Manifest.isShardDirectory(DurableFiles.name(path))
        && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
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
    afterwards(() -> DurableFiles.forceUninterrupted(target));
    afterwards(() -> DurableFiles.forceParent(target));
    for (Path directory : madeParents) {
      afterwards(() -> DurableFiles.forceParent(directory));
    }
  }

  /** Runs a step after the database was published; a failure becomes a warning. */
  private boolean afterwards(Replacement.Step step) {
    try {
      step.run();
      return true;
    } catch (IOException e) {
      warnings.add("the database is at " + target + ", but a later step failed: " + e);
      return false;
    }
  }

  private void replace(Runnable whileWaiting, Duration patience) throws IOException {
    acquireTurn(work, target, whileWaiting, patience);
    Replacement replacement = Replacement.prepare(work.path(), target, warnings::add);
    replacement.writeJournal();
    replacement.run(Workspace::refuseInterrupted);
    published = true;
    if (!afterwards(() -> DurableFiles.forceUninterrupted(target))) {
      abandoned = true; // a power cut may bring back the old database, so keep its files
      return;
    }
    replacement.cleanup().forEach(this::afterwards);
    Path lock = target.resolve(WorkDirectory.LOCK);
    afterwards(
        () -> {
          if (WorkDirectory.isAbandonedLock(lock)) {
            Files.deleteIfExists(lock);
          }
        });
  }

  /** Makes a directory within a database, to change its files. */
  static WorkDirectory workIn(Path target) throws IOException {
    return WorkDirectory.create(target, "." + MARK, recovery(target), null);
  }

  /** Waits until no other build is replacing the database, then takes the replacing name. */
  static void acquireTurn(WorkDirectory work, Path target, Runnable whileWaiting, Duration patience)
      throws IOException {
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

  private static WorkDirectory.Recovery recovery(Path target) {
    return directory -> Replacement.recover(directory, target);
  }

  static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
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
        DurableFiles.removeIfEmpty(madeForTemporary);
      }
    } finally {
      if (abandoned || (published && !replaces)) {
        work.release();
      } else {
        work.remove();
      }
      if (!published) {
        DurableFiles.removeIfEmpty(madeParents);
      }
    }
  }
}
