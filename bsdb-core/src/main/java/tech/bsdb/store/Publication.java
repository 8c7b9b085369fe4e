package tech.bsdb.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.DiffListener;
import tech.bsdb.VerifyReport;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Download;
import tech.bsdb.transfer.Origin;
import tech.bsdb.transfer.TransferOptions;
import tech.bsdb.transfer.TransferReport;

/**
 * Publishes a database to a store as a new version, as a transaction. Nothing is visible before
 * {@link #goLive}; if closed without it, nothing remains.
 *
 * <pre>{@code
 * try (Publication publication = Publication.of(database, store, PublishOptions.defaults())) {
 *   publication.begin();
 *   publication.copy();
 *   publication.verify();
 *   String current = publication.current(); // optionally compare publication.directory() with it
 *   publication.goLive(current);
 * }
 * }</pre>
 *
 * <p>One thread runs these steps in this order. Any thread may call {@link #close} at any time to
 * cancel. Publications to the same store wait for each other.
 */
public final class Publication implements AutoCloseable {
  private static final String INCOMING = ".incoming-";
  private static final String REMOVED = ".removed-";

  /**
   * A file that marks a version as not yet current. It appears with the rename that turns the copy
   * into a version and is deleted once the pointer names the version.
   */
  static final String UNFINISHED = ".publishing";

  private static final long LOCK_MILLISECONDS = 50;

  /** How often the store may vanish between creation and locking. */
  private static final int MAX_REMOVALS = 1000;

  private final Supply supply;
  private final Path store;
  private final PublishOptions options;
  private final List<Path> made = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private @Nullable StoreLock lock;
  private @Nullable Path incoming;
  private @Nullable String version;
  private boolean live;
  private boolean ownDelta;
  private volatile boolean closed;

  private Publication(Supply supply, Path store, PublishOptions options) {
    this.supply = supply;
    this.store = store;
    this.options = options;
  }

  /**
   * Creates a publication without touching any file.
   *
   * @param database the database directory
   * @param store the store directory, which need not exist yet
   */
  public static Publication of(Path database, Path store, PublishOptions options) {
    Supply supply = new LocalSupply(database, options.link());
    return new Publication(supply, store.toAbsolutePath().normalize(), options);
  }

  /**
   * Creates the publication of a remote database, without touching any file. The copy is what an
   * origin holds, fetched file by file ({@link Download}); databases and shards that are in
   * versions of this store are hard-linked. What arrived before a failure stays in the store, and
   * another pull resumes from it.
   *
   * @param origin a directory with a database, a set of shards or a store, whose current version is
   *     used
   * @param store the store directory, which need not exist yet
   * @param options its {@link PublishOptions#link} has no effect
   * @param transfer how the files are fetched, and which shards
   */
  public static Publication pull(
      Origin origin, Path store, PublishOptions options, TransferOptions transfer) {
    Supply supply = new PulledSupply(origin, transfer);
    return new Publication(supply, store.toAbsolutePath().normalize(), options);
  }

  /**
   * Checks all that needs no database, which may not be built yet: that the store is one or can be
   * created, and has no version of the name. Touches no file. {@link #begin} also checks it.
   *
   * @throws FileAlreadyExistsException if the store path is something else, or the store already
   *     has a version with that name
   * @throws IllegalArgumentException if the store is inside a database or another store
   */
  public void checkStore() throws IOException {
    supply.checkPlace(store);
    refuseUnlessStore();
    String wanted = options.version();
    if (wanted != null && !isUnfinished(store.resolve(wanted))) { // which begin would remove
      refuseExisting(wanted);
    }
  }

  /**
   * Checks the database, waits for other publications to the store, creates the store if it is
   * missing, and removes stale files of killed publications.
   *
   * @throws NoSuchFileException if the origin of a pull holds no database
   * @throws FileAlreadyExistsException if the store path is something else, or the store already
   *     has a version with that name
   * @throws NotDirectoryException if the database path is not a database
   * @throws IllegalArgumentException if store and database are nested, or an origin has no such
   *     shards
   * @throws CancellationException if this is closed meanwhile; all other steps throw it too
   */
  public void begin() throws IOException {
    run(
        () -> {
          supply.check(store, this::checkOpen);
          refuseUnlessStore();
          takeLock();
          supply.begin(store);
          prepare();
        });
  }

  private synchronized void prepare() throws IOException {
    checkOpen();
    refuseUnlessStore();
    removeStale();
    removeStaleDeltas();
    String free = name();
    Path copy = store.resolve(INCOMING + free);
    try {
      incoming = Files.createDirectory(copy);
    } catch (FileAlreadyExistsException e) {
      throw new FileAlreadyExistsException(
          copy.toString(), null, "is in the way but was not left by a publication; move it away");
    }
    version = free;
  }

  /** Runs a step and reports an interrupt that closed one of its files as an interrupt. */
  private static void run(Action action) throws IOException {
    boolean unused =
        run(
            () -> {
              action.run();
              return true;
            });
  }

  private static <T> T run(StoreLock.Step<T> step) throws IOException {
    try {
      return step.run();
    } catch (ClosedChannelException e) {
      if (!Thread.currentThread().isInterrupted()) {
        throw e;
      }
      InterruptedIOException interrupted =
          new InterruptedIOException(
              "the publishing thread was interrupted; nothing was published, and closing the"
                  + " publication removes the copy");
      interrupted.initCause(e);
      throw interrupted;
    }
  }

  /** Runs a step after the switch; a failure becomes a warning. */
  private void afterwards(Action step) {
    try {
      step.run();
    } catch (IOException e) {
      warnings.add("version " + version + " is current, but a later step failed: " + e);
    }
  }

  @FunctionalInterface
  private interface Action {
    void run() throws IOException;
  }

  /** Cleanup or sync failures after the version became current. */
  public synchronized List<String> warnings() {
    return List.copyOf(warnings);
  }

  /**
   * Removes what killed publications left behind: hidden directories, and versions that never
   * became current. A directory with any other files, or one that cannot be removed, stays.
   */
  private void removeStale() throws IOException {
    List<Path> stale = new ArrayList<>();
    boolean unfinished = false;
    for (Path entry : DurableFiles.list(store)) {
      String name = DurableFiles.name(entry);
      if (isStale(name, INCOMING) || isStale(name, REMOVED)) {
        stale.add(entry);
      }
      unfinished |= isUnfinished(entry);
    }
    if (unfinished) {
      stale.addAll(StoreLock.switching(store, this::hideUnfinished));
    }
    for (Path directory : stale) {
      try {
        boolean real = Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS);
        if (real && Directories.holdsDatabaseFilesOnly(directory)) {
          Directories.delete(directory);
        }
      } catch (FileSystemException stays) {
        // another user's, for example; harmless
      }
    }
  }

  private static boolean isStale(String name, String prefix) {
    return name.startsWith(prefix) && VersionName.isValid(name.substring(prefix.length()));
  }

  private static boolean isUnfinished(Path version) {
    return VersionName.isValid(DurableFiles.name(version))
        && Files.isDirectory(version, LinkOption.NOFOLLOW_LINKS)
        && Files.isRegularFile(version.resolve(UNFINISHED), LinkOption.NOFOLLOW_LINKS);
  }

  private List<Path> hideUnfinished() throws IOException {
    List<Path> hidden = new ArrayList<>();
    Pointer pointer = Pointer.read(store);
    if (pointer == null && Store.isStore(store)) {
      return hidden; // a partly written pointer may still name any of them
    }
    for (Path version : DurableFiles.list(store)) {
      if (isUnfinished(version)) {
        String name = DurableFiles.name(version);
        if (pointer != null && pointer.names(name)) {
          Files.deleteIfExists(version.resolve(UNFINISHED));
        } else if (Directories.holdsDatabaseFilesOnly(version)) {
          hidden.add(Files.move(version, hiddenPath(name), StandardCopyOption.ATOMIC_MOVE));
        }
      }
    }
    return hidden;
  }

  /** What a pull did so far; null if this is not one, or before the end of {@link #copy}. */
  public @Nullable TransferReport transferred() {
    return supply instanceof PulledSupply pulled ? pulled.report() : null;
  }

  /** The number of records of the database that is published, as of {@link #begin}. */
  public synchronized long records() {
    directory();
    return supply.records();
  }

  /**
   * Whether the current version already is the database that is published, so that there is nothing
   * to do.
   */
  public boolean isCurrent() throws IOException {
    String current = current();
    try {
      return current != null
          && Database.statistics(store.resolve(current), supply.trusted())
              .databaseId()
              .equals(supply.id());
    } catch (IOException unreadableOrNotTrusted) {
      return false;
    }
  }

  /**
   * Removes what earlier pulls have left although the current version {@linkplain #isCurrent is}
   * the one to publish, such as after a pull was killed right after the switch.
   */
  public void upToDate() throws IOException {
    run(supply::done);
  }

  /**
   * Copies, links or fetches all files of the database into the store, forced to the device.
   *
   * @throws NoSuchFileException if a file is missing
   */
  public void copy() throws IOException {
    run(this::copyFiles);
  }

  private void copyFiles() throws IOException {
    Path into = directory();
    List<Supply.Piece> pieces = supply.pieces();
    Set<Path> shards = new LinkedHashSet<>();
    LongConsumer copied = progress();
    ByteBuffer chunk = FileCopy.chunk();
    try {
      for (Supply.Piece piece : pieces) {
        Path to = into.resolve(piece.name());
        Path parent = Objects.requireNonNull(to.getParent());
        if (!parent.equals(into) && shards.add(parent)) {
          exclusively(() -> Files.createDirectory(parent));
        }
        place(piece, to, chunk, copied);
      }
    } catch (IOException e) {
      throw supply.explained(e);
    }
    if (supply.manifest().length > 0) {
      try (FileChannel out = create(into.resolve(Consignment.MANIFEST))) {
        DurableFiles.write(out, supply.manifest());
      }
    }
    checkOpen();
    supply.checkCopy(into);
    create(into.resolve(UNFINISHED)).close();
    for (Path shard : shards) {
      DurableFiles.forceUninterrupted(shard);
    }
    DurableFiles.forceUninterrupted(into);
  }

  /** Takes numbers of bytes as they are copied; fails once this is closed. */
  private LongConsumer progress() {
    long[] done = new long[1];
    return bytes -> {
      checkOpen();
      done[0] += bytes;
      if (supply.bytes() > 0) {
        options.listener().copied(done[0], supply.bytes());
      }
    };
  }

  private void place(Supply.Piece piece, Path to, ByteBuffer chunk, LongConsumer copied)
      throws IOException {
    Supply.How how = piece.how();
    if (how == Supply.How.LINK) {
      exclusively(() -> FileCopy.link(piece.from(), to));
      copied.accept(piece.bytes());
      return;
    }
    boolean linked = how != Supply.How.COPY && isLinked(piece, to);
    if (!linked && how == Supply.How.LINK_OR_MOVE) {
      exclusively(() -> Files.move(piece.from(), to, StandardCopyOption.ATOMIC_MOVE));
    } else if (!linked) {
      try (FileChannel out = create(to)) {
        FileCopy.copy(piece.from(), out, chunk, copied);
      }
    }
  }

  /** Links a file that is forced to the device already; returns whether that is possible. */
  private boolean isLinked(Supply.Piece piece, Path to) throws IOException {
    try {
      exclusively(() -> Files.createLink(to, piece.from().toRealPath()));
      return true;
    } catch (UnsupportedOperationException | FileSystemException e) {
      return false;
    }
  }

  /** Takes a step that a close must not overlap. */
  private synchronized void exclusively(Action step) throws IOException {
    checkOpen();
    step.run();
  }

  private synchronized FileChannel create(Path file) throws IOException {
    checkOpen();
    return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  private void refuseUnlessStore() throws IOException {
    BasicFileAttributes found;
    try {
      found = Files.readAttributes(store, BasicFileAttributes.class);
    } catch (NoSuchFileException notYet) {
      if (!Files.isSymbolicLink(store)) {
        return;
      }
      throw notDirectory();
    }
    if (!found.isDirectory()) {
      throw notDirectory();
    }
    if (Store.isStore(store)) {
      return;
    }
    if (Directories.isDatabase(store)) {
      throw new FileAlreadyExistsException(
          store.toString(), null, "is a single database, not a store; choose another directory");
    }
    try {
      if (!containsForeignFiles() || Store.isStore(store)) {
        return;
      }
    } catch (NoSuchFileException removed) {
      return; // removed by another publication that created it and failed
    }
    throw new FileAlreadyExistsException(
        store.toString(),
        null,
        "is not a store: it has no "
            + Pointer.FILE
            + " and contains other files; choose another directory");
  }

  private FileAlreadyExistsException notDirectory() {
    return new FileAlreadyExistsException(
        store.toString(), null, "is not a directory; choose another directory for the store");
  }

  /**
   * Whether a directory without a pointer contains anything other than databases and our own files.
   * Another publication may be running, so a listed entry may have become a version or vanished:
   * everything is judged from one listing, and vanished entries are ignored.
   */
  private boolean containsForeignFiles() throws IOException {
    boolean versions = false;
    boolean foreign = false;
    for (Path entry : DurableFiles.list(store)) {
      String name = DurableFiles.name(entry);
      if (name.equals(Pointer.FILE)) {
        return false;
      }
      if (name.startsWith(".")) {
        boolean lock = name.equals(StoreLock.PUBLISH) || name.equals(StoreLock.SWITCH);
        boolean pulled = PulledSupply.isOwn(name) || name.equals(Delta.DIRECTORY);
        foreign |= !lock && !pulled && !isStale(name);
      } else if (Directories.isShard(entry)) {
        return true; // of a set that was not copied whole
      } else if (Directories.isDatabase(entry)) {
        versions |= VersionName.isValid(name);
        foreign |= !VersionName.isValid(name);
      } else if (Directories.isRemainder(entry)) {
        foreign = true;
      } else if (!name.equals("lost+found")
          && Files.exists(entry, LinkOption.NOFOLLOW_LINKS)
          && !Directories.isDatabase(entry)) {
        return true;
      }
    }
    return foreign && !versions;
  }

  private static boolean isStale(String name) {
    return name.startsWith(INCOMING) || name.startsWith(REMOVED) || name.equals(Pointer.NEXT_FILE);
  }

  private void takeLock() throws IOException {
    boolean reported = false;
    int removals = 0;
    while (true) {
      synchronized (this) {
        checkOpen();
        try {
          Directories.make(store, made);
          lock = StoreLock.tryTake(store, StoreLock.PUBLISH);
        } catch (NoSuchFileException removed) {
          if (++removals == MAX_REMOVALS) {
            throw removed;
          }
          continue; // removed by another publication that created the store and failed
        }
        if (lock != null) {
          return;
        }
      }
      if (!reported) {
        options.listener().waiting();
        reported = true;
      }
      StoreLock.pause(LOCK_MILLISECONDS);
    }
  }

  private String name() throws IOException {
    String wanted = options.version();
    if (wanted != null) {
      refuseExisting(wanted);
      return wanted;
    }
    String name = supply.name();
    return VersionName.free(name == null ? VersionName.ofTime(Instant.now()) : name, this::exists);
  }

  private void refuseExisting(String wanted) throws IOException {
    if (exists(wanted) && !(supply instanceof PulledSupply && isCurrent())) {
      throw new FileAlreadyExistsException(
          store.resolve(wanted).toString(),
          null,
          "a version with this name already exists; choose another with --version");
    }
  }

  private boolean exists(String name) {
    return Files.exists(store.resolve(name), LinkOption.NOFOLLOW_LINKS);
  }

  private void checkOpen() {
    if (closed) {
      throw new CancellationException("the publication was closed");
    }
  }

  /**
   * Verifies the copy: checks every checksum and looks up every key through the index.
   *
   * @throws tech.bsdb.error.CorruptDatabaseException at the first damage
   */
  public VerifyReport verify() throws IOException {
    return run(
        () ->
            Database.verify(
                directory(),
                (done, all) -> {
                  checkOpen();
                  options.listener().verified(done, all);
                }));
  }

  /**
   * Writes the changes since a version of this store, so that copies of the store that have that
   * version need no whole copy of this one. To be called after {@link #copy}.
   *
   * @param base the name of the version
   * @param memoryBytes memory to sort the changes
   * @param listener receives the progress of the comparison
   * @throws NoDeltaException if they would be of no use; the version may go live without them
   * @throws NoSuchFileException if there is no such version
   */
  public void delta(String base, long memoryBytes, DiffListener listener) throws IOException {
    run(() -> writeDelta(VersionName.checked(base), memoryBytes, listener));
  }

  /**
   * Fails unless there is a version whose changes can be written.
   *
   * @throws NoSuchFileException if there is no such version
   */
  public void checkDelta(String base) throws IOException {
    Path version = store.resolve(VersionName.checked(base));
    if (!Directories.isDatabase(version)) {
      throw new NoSuchFileException(
          version.toString(), null, "no such version; to list them: bsdb versions " + store);
    }
  }

  private void writeDelta(String base, long memoryBytes, DiffListener listener) throws IOException {
    checkDelta(base);
    Path target = delta(version());
    Fold.clear(target); // of a version of that name which others removed
    ownDelta = true;
    try {
      Delta delta =
          new DeltaBuild(store.resolve(base), directory(), listener, this::checkOpen)
              .write(base, target, memoryBytes);
      DurableFiles.write(target.resolve(Delta.FILE), delta.encode());
    } catch (IOException | RuntimeException e) {
      try {
        Fold.clear(target);
      } catch (IOException stays) {
        e.addSuppressed(stays);
      }
      throw e;
    }
  }

  private Path delta(String version) {
    return store.resolve(Delta.directory(version));
  }

  /** Removes the deltas of versions that are not here, and what killed publications left. */
  private void removeStaleDeltas() throws IOException {
    Path deltas = store.resolve(Delta.DIRECTORY);
    if (Files.isDirectory(deltas, LinkOption.NOFOLLOW_LINKS)) {
      for (Path each : DurableFiles.list(deltas)) {
        if (Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)
            && !exists(DurableFiles.name(each))) {
          try {
            Fold.clear(each);
          } catch (FileSystemException stays) {
            // another user's, for example; harmless
          }
        }
      }
    }
  }

  /** The directory of the copy. */
  public synchronized Path directory() {
    return Objects.requireNonNull(incoming, "begin first");
  }

  /** The name of the new version. */
  public synchronized String version() {
    return Objects.requireNonNull(version, "begin first");
  }

  /** The store directory. */
  public Path store() {
    return store;
  }

  /** The name of the current version, or null if there is none. */
  public @Nullable String current() throws IOException {
    Pointer pointer = Pointer.read(store);
    return pointer == null ? null : pointer.current();
  }

  /**
   * Turns the copy into a version and makes it current.
   *
   * @param compared the version that was current when the copy was compared with it
   * @return false if another version has become current since, and nothing was done; compare with
   *     that version and call this again
   */
  public synchronized boolean goLive(@Nullable String compared) throws IOException {
    checkOpen();
    directory();
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted before the version was made current");
    }
    if (!run(() -> StoreLock.switching(store, () -> switchFrom(compared)))) {
      return false;
    }
    afterwards(supply::done);
    for (Path directory : made) {
      afterwards(() -> DurableFiles.forceParent(directory));
    }
    return true;
  }

  private synchronized boolean switchFrom(@Nullable String compared) throws IOException {
    Path copy = directory();
    String name = version();
    Path target = store.resolve(name);
    Pointer pointer = Pointer.read(store);
    if (!Objects.equals(compared, pointer == null ? null : pointer.current())) {
      return false;
    }
    if (exists(name)) {
      throw new FileAlreadyExistsException(
          target.toString(), null, "was created while this version was copied");
    }
    Files.move(copy, target, StandardCopyOption.ATOMIC_MOVE);
    try {
      DurableFiles.forceUninterrupted(store);
      IOException notSynced =
          (pointer == null ? Pointer.to(name) : pointer.pushed(name)).write(store);
      live = true;
      if (notSynced != null) {
        warnings.add(
            "version " + name + " is current, but a power cut may undo that: " + notSynced);
      }
    } finally {
      if (!live && !name.equals(current())) {
        Files.move(target, copy, StandardCopyOption.ATOMIC_MOVE);
      }
    }
    afterwards(() -> Files.deleteIfExists(target.resolve(UNFINISHED)));
    return true;
  }

  /**
   * Removes the oldest versions once this one is live. Always kept are the current version, the one
   * a rollback returns to, directories that are not databases, and version directories that contain
   * other files ({@link #warnings} names those).
   *
   * @param old how many versions to keep besides the current one
   * @return the names of the removed versions
   */
  public synchronized List<String> keep(int old) throws IOException {
    if (!live) {
      throw new IllegalStateException("not live yet");
    }
    Map<String, Path> hidden = StoreLock.switching(store, () -> hide(old));
    for (Path directory : hidden.values()) {
      Directories.delete(directory);
    }
    afterwards(this::removeStaleDeltas);
    return List.copyOf(hidden.keySet());
  }

  /** A name for a version to be removed; a stale directory may have the first. */
  private Path hiddenPath(String version) {
    Path path = store.resolve(REMOVED + version);
    for (int i = 1; Files.exists(path, LinkOption.NOFOLLOW_LINKS); i++) {
      path = store.resolve(REMOVED + version + "-" + i);
    }
    return path;
  }

  /**
   * Renames the oldest versions to hidden names, so that they are not opened while being deleted;
   * returns their names, and where each is now.
   */
  private Map<String, Path> hide(int old) throws IOException {
    Map<String, Path> hidden = new LinkedHashMap<>();
    Pointer pointer = Pointer.read(store);
    if (pointer == null) {
      return hidden;
    }
    List<String> names = new ArrayList<>();
    Map<String, Instant> others = new LinkedHashMap<>();
    for (Path directory : LocalStore.versionDirectories(store)) {
      String name = DurableFiles.name(directory);
      names.add(name);
      if (!name.equals(pointer.current()) && Directories.isDatabase(directory)) {
        others.put(name, age(directory));
      }
    }
    for (String name : Store.beyond(old, Store.rollbackTarget(pointer, names), others)) {
      Path directory = store.resolve(name);
      if (Files.isSymbolicLink(directory) || Directories.holdsDatabaseFilesOnly(directory)) {
        hidden.put(name, Files.move(directory, hiddenPath(name)));
      } else {
        warnings.add(
            directory
                + " contains files that are not the database's, so it was kept; remove it by hand");
      }
    }
    return hidden;
  }

  private static Instant age(Path directory) {
    try {
      return Files.getLastModifiedTime(directory).toInstant();
    } catch (IOException e) {
      return Instant.MAX; // unknown age: keep it
    }
  }

  /**
   * Removes everything unless the version is live; a second call does nothing. Does not fail once
   * the version is live.
   */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    if (live) {
      afterwards(this::clear);
    } else {
      clear();
    }
  }

  private synchronized void clear() throws IOException {
    StoreLock held = lock;
    try {
      if (incoming != null && !live) {
        Directories.delete(incoming);
      }
      if (ownDelta && !live) {
        Fold.clear(delta(version()));
      }
    } finally {
      if (held != null) {
        if (!live && isFresh() && removeSwitchLock()) {
          held.remove();
        } else {
          held.close();
        }
      }
      if (!live) {
        DurableFiles.removeIfEmpty(made);
      }
    }
  }

  /** Removes the switch lock unless it is held. */
  private boolean removeSwitchLock() throws IOException {
    if (!Files.exists(store.resolve(StoreLock.SWITCH))) {
      return true;
    }
    StoreLock other = StoreLock.tryTake(store, StoreLock.SWITCH);
    if (other == null) {
      return false;
    }
    other.remove();
    return true;
  }

  /** Whether the store contains nothing but what this publication created. */
  private boolean isFresh() throws IOException {
    return made.contains(store)
        && DurableFiles.list(store).stream()
            .map(DurableFiles::name)
            .allMatch(name -> name.equals(StoreLock.PUBLISH) || name.equals(StoreLock.SWITCH));
  }
}
