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
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.VerifyReport;

/**
 * Brings a database into a store as a new version: a transaction. Until {@link #goLive} nothing of
 * it is seen; left without that, nothing of it remains.
 *
 * <pre>{@code
 * try (Publication publication = Publication.of(database, store, PublishOptions.defaults())) {
 *   publication.begin();
 *   publication.copy();
 *   publication.verify();
 *   String current = publication.current(); // compare publication.directory() with it, if you like
 *   publication.goLive(current);
 * }
 * }</pre>
 *
 * <p>One thread does these steps in this order; {@link #close} may come from any thread at any time
 * and cancels. Publications to one store wait for each other.
 */
public final class Publication implements AutoCloseable {
  private static final String INCOMING = ".incoming-";
  private static final String REMOVED = ".removed-";

  /**
   * A file in a version's directory that says that it has not been current yet. It comes with the
   * rename that makes the copy a version, and goes when the pointer names it.
   */
  static final String UNFINISHED = ".publishing";

  private static final long LOCK_MILLISECONDS = 50;

  /** How often the store may vanish between being made and being locked. */
  private static final int MOST_REMOVALS = 1000;

  private final Path database;
  private final Path store;
  private final PublishOptions options;
  private final List<Path> made = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private @Nullable StoreLock lock;
  private @Nullable Path incoming;
  private @Nullable String version;
  private @Nullable Statistics source;
  private boolean live;
  private volatile boolean closed;

  private Publication(Path database, Path store, PublishOptions options) {
    this.database = database;
    this.store = store;
    this.options = options;
  }

  /**
   * A publication; nothing is touched yet.
   *
   * @param database the database
   * @param store the store, which may not be there yet
   */
  public static Publication of(Path database, Path store, PublishOptions options) {
    return new Publication(database, store.toAbsolutePath().normalize(), options);
  }

  /**
   * Looks at the database, waits for other publications to the store, makes the store if it is
   * missing, and removes what killed publications left.
   *
   * @throws FileAlreadyExistsException if the store is something else, or has a version of that
   *     name
   * @throws NotDirectoryException if the database is none
   * @throws IllegalArgumentException if store and database lie in each other
   * @throws CancellationException if this is closed meanwhile; so do all other steps
   */
  public void begin() throws IOException {
    run(
        () -> {
          Statistics found = findSource();
          refuseUnlessStore();
          takeLock();
          prepare(found);
        });
  }

  private synchronized void prepare(Statistics found) throws IOException {
    checkOpen();
    refuseUnlessStore();
    removeStale();
    String free = name();
    Path copy = store.resolve(INCOMING + free);
    try {
      incoming = Files.createDirectory(copy);
    } catch (FileAlreadyExistsException e) {
      throw new FileAlreadyExistsException(
          copy.toString(), null, "is in the way, and no publication left it; move it away");
    }
    version = free;
    source = found;
  }

  /** Does a step; an interrupt that closed a file of it is told as such. */
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

  /** A step after the switch, which does not fail any more. */
  private void afterwards(Action step) {
    try {
      step.run();
    } catch (IOException e) {
      warnings.add("version " + version + " is current, but afterwards this failed: " + e);
    }
  }

  @FunctionalInterface
  private interface Action {
    void run() throws IOException;
  }

  /** What could not be cleaned up, or made to last, after the version had become current. */
  public synchronized List<String> warnings() {
    return List.copyOf(warnings);
  }

  /**
   * Removes what killed publications left: hidden directories, and versions that never became
   * current. What holds anything but a database's files, or cannot be removed, stays.
   */
  private void removeStale() throws IOException {
    List<Path> stale = new ArrayList<>();
    boolean unfinished = false;
    for (Path entry : Directories.list(store)) {
      String name = Directories.name(entry);
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
        // another user's, for example; it is in nobody's way
      }
    }
  }

  private static boolean isStale(String name, String prefix) {
    return name.startsWith(prefix) && VersionName.isValid(name.substring(prefix.length()));
  }

  private static boolean isUnfinished(Path version) {
    return VersionName.isValid(Directories.name(version))
        && Files.isDirectory(version, LinkOption.NOFOLLOW_LINKS)
        && Files.isRegularFile(version.resolve(UNFINISHED), LinkOption.NOFOLLOW_LINKS);
  }

  private List<Path> hideUnfinished() throws IOException {
    List<Path> hidden = new ArrayList<>();
    Pointer pointer = Pointer.read(store);
    if (pointer == null && Store.isStore(store)) {
      return hidden; // nobody knows what it will name when it is whole
    }
    for (Path version : Directories.list(store)) {
      if (isUnfinished(version)) {
        String name = Directories.name(version);
        boolean named =
            pointer != null && (pointer.current().equals(name) || pointer.chain().contains(name));
        if (named) {
          Files.deleteIfExists(version.resolve(UNFINISHED));
        } else if (Directories.holdsDatabaseFilesOnly(version)) {
          Path away = store.resolve(REMOVED + name);
          hidden.add(Files.move(version, away, StandardCopyOption.ATOMIC_MOVE));
        }
      }
    }
    return hidden;
  }

  /** The figures of the database as it was at the beginning. */
  public synchronized Statistics source() {
    return Objects.requireNonNull(source, "begin first");
  }

  /** Brings all files of the database into the store, forced to the device. */
  public void copy() throws IOException {
    run(this::copyFiles);
  }

  private void copyFiles() throws IOException {
    Statistics source = source();
    Path into = directory();
    long[] done = new long[1];
    ByteBuffer chunk = FileCopy.chunk();
    for (String name : source.fileBytes().keySet()) { // the manifest is the last one
      Path from = source.directory().resolve(name);
      Path to = into.resolve(name);
      try {
        if (options.link()) {
          synchronized (this) {
            checkOpen();
            FileCopy.link(from, to);
          }
          tell(done, source.fileBytes().getOrDefault(name, 0L), source.databaseBytes());
        } else {
          try (FileChannel out = create(to)) {
            FileCopy.copy(from, out, chunk, more -> tell(done, more, source.databaseBytes()));
          }
        }
      } catch (IOException e) {
        refuseReplaced(source, e);
        throw e;
      }
    }
    refuseMixed(source, into);
    create(into.resolve(UNFINISHED)).close();
    Directories.force(into);
  }

  /** The manifest is copied last; if it is another one's, the files before it are not its. */
  private void refuseMixed(Statistics source, Path copy) throws IOException {
    checkOpen();
    try {
      if (Database.statistics(copy).databaseId().equals(source.databaseId())) {
        return;
      }
    } catch (IOException e) {
      refuseReplaced(source, e);
      throw e;
    }
    refuseReplaced(source, null);
  }

  private synchronized FileChannel create(Path file) throws IOException {
    checkOpen();
    return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  private void tell(long[] done, long more, long all) {
    checkOpen();
    done[0] += more;
    options.listener().copied(done[0], all);
  }

  private void refuseReplaced(Statistics source, @Nullable IOException cause) throws IOException {
    boolean same;
    try {
      same = Database.statistics(database).databaseId().equals(source.databaseId());
    } catch (IOException e) {
      return;
    }
    if (!same) {
      throw new IOException(
          database + ": the database was replaced while it was copied; publish again", cause);
    }
  }

  private Statistics findSource() throws IOException {
    if (Store.isStore(database)) {
      throw new NotDirectoryException(
          database
              + " is not a database but a store of them; name one of its versions, such as "
              + database.resolve(String.valueOf(Store.open(database).current())));
    }
    Path there = Files.exists(database) ? database.toRealPath() : database;
    Statistics source = Database.statistics(there);
    Path real = realOrAbsolute(store);
    if (real.startsWith(source.directory())) {
      throw new IllegalArgumentException(
          "the store " + store + " lies in the database " + database + "; choose another place");
    }
    Path above = real.getParent();
    for (Path path = above; path != null; path = path.getParent()) {
      if (Directories.isDatabase(path)) {
        throw new IllegalArgumentException(
            "the store " + store + " lies in the database " + path + "; choose another place");
      }
    }
    if (above != null && Store.isStore(above) && Pointer.read(above) != null) {
      throw new IllegalArgumentException(
          "the store "
              + store
              + " lies in the store "
              + above
              + "; to publish a version of that name: bsdb publish "
              + database
              + " "
              + above
              + " --version "
              + Directories.name(real));
    }
    if (source.directory().startsWith(real)
        && real.relativize(source.directory()).toString().startsWith(".")) {
      throw new IllegalArgumentException(
          "the database " + database + " is a hidden directory of the store; publish another one");
    }
    return source;
  }

  /** The path without symbolic links, as far as there is something. */
  private static Path realOrAbsolute(Path path) throws IOException {
    try {
      return path.toRealPath();
    } catch (NoSuchFileException notYetOrNoMore) {
      // goes on with the parent
    }
    Path parent = path.getParent();
    return parent == null ? path : realOrAbsolute(parent).resolve(Directories.name(path));
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
          store.toString(), null, "is a single database, not a store; choose another place");
    }
    try {
      if (!holdsForeign() || Store.isStore(store)) {
        return;
      }
    } catch (NoSuchFileException removed) {
      return; // by another one that made it, and failed
    }
    throw new FileAlreadyExistsException(
        store.toString(),
        null,
        "is not a store: it has no "
            + Pointer.FILE
            + " and holds other things; choose another place");
  }

  private FileAlreadyExistsException notDirectory() {
    return new FileAlreadyExistsException(
        store.toString(), null, "is not a directory; a store is one, so choose another place");
  }

  /**
   * Whether a directory without a pointer holds what is neither a database nor ours. Another
   * publication may be at work: what is listed may have become a version, or may be gone again, so
   * everything is judged by one listing, and an entry that is gone is nobody's.
   */
  private boolean holdsForeign() throws IOException {
    boolean versions = false;
    boolean strange = false;
    for (Path entry : Directories.list(store)) {
      String name = Directories.name(entry);
      if (name.equals(Pointer.FILE)) {
        return false;
      }
      if (name.startsWith(".")) {
        boolean lock = name.equals(StoreLock.PUBLISH) || name.equals(StoreLock.SWITCH);
        strange |= !lock && !isStale(name);
      } else if (Directories.isDatabase(entry)) {
        versions |= VersionName.isValid(name);
        strange |= !VersionName.isValid(name);
      } else if (!name.equals("lost+found")
          && Files.exists(entry, LinkOption.NOFOLLOW_LINKS)
          && !Directories.isDatabase(entry)) {
        return true;
      }
    }
    return strange && !versions;
  }

  private static boolean isStale(String name) {
    return name.startsWith(INCOMING) || name.startsWith(REMOVED) || name.equals(Pointer.NEXT_FILE);
  }

  private void takeLock() throws IOException {
    boolean told = false;
    int removals = 0;
    while (true) {
      synchronized (this) {
        checkOpen();
        try {
          Directories.make(store, made);
          lock = StoreLock.tryTake(store, StoreLock.PUBLISH);
        } catch (NoSuchFileException removed) {
          if (++removals == MOST_REMOVALS) {
            throw removed;
          }
          continue; // by another one that made the store, and failed
        }
        if (lock != null) {
          return;
        }
      }
      if (!told) {
        options.listener().waiting();
        told = true;
      }
      StoreLock.pause(LOCK_MILLISECONDS);
    }
  }

  private String name() throws IOException {
    String wanted = options.version();
    if (wanted != null) {
      if (exists(wanted)) {
        throw new FileAlreadyExistsException(
            store.resolve(wanted).toString(),
            null,
            "there is a version of this name; choose another with --version");
      }
      return wanted;
    }
    String time = VersionName.ofTime(Instant.now());
    String free = time;
    for (int i = 2; exists(free); i++) {
      free = time + "-" + i;
    }
    return free;
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
   * Verifies the copy: every checksum, and every key through the index.
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

  /** Where the copy is. */
  public synchronized Path directory() {
    return Objects.requireNonNull(incoming, "begin first");
  }

  /** The name of the new version. */
  public synchronized String version() {
    return Objects.requireNonNull(version, "begin first");
  }

  /** The store. */
  public Path store() {
    return store;
  }

  /** The name of the version that is current now, or null if none is. */
  public @Nullable String current() throws IOException {
    Pointer pointer = Pointer.read(store);
    return pointer == null ? null : pointer.current();
  }

  /**
   * Makes the copy a version, and the current one.
   *
   * @param compared the version that was current when the copy was compared with it
   * @return false if another version has become current since, so that nothing was done: compare
   *     with that, and call this again
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
    for (Path directory : made) {
      Path parent = directory.getParent();
      if (parent != null) {
        afterwards(() -> Directories.force(parent));
      }
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
      Directories.force(store);
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
   * Removes the oldest versions, once this one is live. Never removed are the current version, the
   * one that a rollback goes back to, what is not a whole database, and a version's directory that
   * holds anything else besides ({@link #warnings} name those).
   *
   * @param old how many versions to keep besides the current one
   * @return the names of those that were removed
   */
  public synchronized List<String> keep(int old) throws IOException {
    if (!live) {
      throw new IllegalStateException("not live yet");
    }
    List<Path> hidden = StoreLock.switching(store, () -> hide(old));
    for (Path directory : hidden) {
      Directories.delete(directory);
    }
    return hidden.stream()
        .map(directory -> Directories.name(directory).substring(REMOVED.length()))
        .toList();
  }

  /** Gives the oldest versions hidden names, so that nobody opens them while they are deleted. */
  private List<Path> hide(int old) throws IOException {
    List<Path> hidden = new ArrayList<>();
    Pointer pointer = Pointer.read(store);
    if (pointer == null) {
      return hidden;
    }
    String back = Store.open(store).goesBackTo(pointer).orElse("");
    List<Path> others = new ArrayList<>();
    for (Path directory : Store.versionDirectories(store)) {
      String name = Directories.name(directory);
      boolean needed = name.equals(pointer.current()) || name.equals(back);
      if (!needed && Directories.isDatabase(directory)) {
        others.add(directory);
      }
    }
    others.sort(Comparator.comparing(Publication::age)); // stable: names in order where equal
    int most = Math.max(0, back.isEmpty() ? old : old - 1);
    for (Path directory : others.subList(0, Math.max(0, others.size() - most))) {
      if (!Files.isSymbolicLink(directory) && !Directories.holdsDatabaseFilesOnly(directory)) {
        warnings.add(
            directory
                + " holds other files than the database's, so it was kept; remove it by hand");
        continue;
      }
      hidden.add(Files.move(directory, store.resolve(REMOVED + Directories.name(directory))));
    }
    return hidden;
  }

  private static Instant age(Path directory) {
    try {
      return Files.getLastModifiedTime(directory).toInstant();
    } catch (IOException e) {
      return Instant.MAX; // keep what is not understood
    }
  }

  /** Removes all that is not live; a second call does nothing. Does not fail once it is live. */
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
    } finally {
      if (held != null) {
        if (!live && isFresh() && removeSwitchLock()) {
          held.remove();
        } else {
          held.close();
        }
      }
      if (!live) {
        for (Path directory : made) {
          if (!removed(directory)) {
            break;
          }
        }
      }
    }
  }

  /** Removes the other lock, unless somebody holds it. */
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

  /** Whether the store holds nothing but what this made. */
  private boolean isFresh() throws IOException {
    return made.contains(store)
        && Directories.list(store).stream()
            .map(Directories::name)
            .allMatch(name -> name.equals(StoreLock.PUBLISH) || name.equals(StoreLock.SWITCH));
  }

  private static boolean removed(Path directory) {
    try {
      return Files.deleteIfExists(directory);
    } catch (IOException inUse) {
      return false;
    }
  }
}
