package tech.bsdb.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
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
  private static final long LOCK_MILLISECONDS = 50;

  /** How often the store may vanish between being made and being locked. */
  private static final int MOST_REMOVALS = 1000;

  private final Path database;
  private final Path store;
  private final PublishOptions options;
  private final List<Path> made = new ArrayList<>();
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
    Statistics found = findSource();
    refuseUnlessStore();
    takeLock();
    synchronized (this) {
      checkOpen();
      refuseUnlessStore();
      for (Path entry : Directories.list(store)) {
        String name = Directories.name(entry);
        if (name.startsWith(INCOMING) || name.startsWith(REMOVED)) {
          Directories.delete(entry);
        }
      }
      String free = name();
      incoming = Files.createDirectory(store.resolve(INCOMING + free));
      version = free;
      source = found;
    }
  }

  /** The figures of the database as it was at the beginning. */
  public synchronized Statistics source() {
    return Objects.requireNonNull(source, "begin first");
  }

  /** Brings all files of the database into the store, forced to the device. */
  public void copy() throws IOException {
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
    checkOpen();
    Directories.force(into);
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

  private void refuseReplaced(Statistics source, IOException cause) throws IOException {
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
    if (!Files.exists(store) && !Files.exists(store, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    if (!Files.isDirectory(store)) {
      throw new FileAlreadyExistsException(
          store.toString(), null, "is not a directory; a store is one, so choose another place");
    }
    if (Store.isStore(store)) {
      return;
    }
    if (Directories.isDatabase(store)) {
      throw new FileAlreadyExistsException(
          store.toString(), null, "is a single database, not a store; choose another place");
    }
    boolean foreign;
    try {
      boolean empty = Store.versionDirectories(store).isEmpty();
      foreign = !Store.holdsDatabasesOnly(store) || (empty && holdsForeign());
    } catch (NoSuchFileException removed) {
      return; // by another one that made it, and failed
    }
    if (foreign) {
      throw new FileAlreadyExistsException(
          store.toString(),
          null,
          "is not a store: it has no "
              + Pointer.FILE
              + " and holds other things; choose another place");
    }
  }

  private boolean holdsForeign() throws IOException {
    for (Path entry : Directories.list(store)) {
      String name = Directories.name(entry);
      boolean ours =
          isLeftOver(name)
              || name.equals(StoreLock.PUBLISH)
              || name.equals(StoreLock.SWITCH)
              || name.equals("lost+found");
      if (!ours) {
        return true;
      }
    }
    return false;
  }

  private static boolean isLeftOver(String name) {
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
   * @throws tech.bsdb.format.CorruptDatabaseException at the first damage
   */
  public VerifyReport verify() throws IOException {
    return Database.verify(
        directory(),
        (done, all) -> {
          checkOpen();
          options.listener().verified(done, all);
        });
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
    if (!StoreLock.switching(store, () -> switchFrom(compared))) {
      return false;
    }
    for (Path directory : made) {
      Path parent = directory.getParent();
      if (parent != null) {
        Directories.force(parent);
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
          target.toString(), null, "came into being while this version was copied");
    }
    Files.move(copy, target, StandardCopyOption.ATOMIC_MOVE);
    try {
      Directories.force(store);
      (pointer == null ? Pointer.to(name) : pointer.pushed(name)).write(store);
      live = true;
    } finally {
      if (!live && !name.equals(current())) {
        Files.move(target, copy, StandardCopyOption.ATOMIC_MOVE);
      }
    }
    return true;
  }

  /**
   * Removes the oldest versions, once this one is live. Never removed are the current version, the
   * one that a rollback goes back to, and what is not a whole database.
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

  /** Removes all that is not live; a second call does nothing. */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    StoreLock held = lock;
    try {
      if (incoming != null && !live) {
        Directories.delete(incoming);
      }
    } finally {
      if (held != null) {
        if (!live && isFresh()) {
          Files.deleteIfExists(store.resolve(StoreLock.SWITCH));
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
