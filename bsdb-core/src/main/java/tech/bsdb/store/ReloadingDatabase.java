package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;

/**
 * An open database that follows its directory: the current version of a store, or a plain database
 * that is replaced in place. Thread-safe.
 *
 * <p>It looks for another version again and again. One that is found is opened while the old one
 * serves, and takes its place at once; the old one is closed when its last lease is given back. One
 * that cannot be opened is refused: the old one goes on serving, {@link #refused} says why, and the
 * new one is tried again for as long as it is current.
 *
 * <pre>{@code
 * try (ReloadingDatabase users = ReloadingDatabase.open(store, ReloadOptions.defaults())) {
 *   try (Lease lease = users.acquire()) { // all answers below are of one version
 *     byte[] value = lease.database().get(key);
 *   }
 * }
 * }</pre>
 */
public final class ReloadingDatabase implements AutoCloseable {
  private static final int ATTEMPTS = 20;

  private final Path directory;
  private final Reloader reloader;

  private ReloadingDatabase(Path directory, Reloader reloader) {
    this.directory = directory;
    this.reloader = reloader;
  }

  /**
   * Opens what is current in a directory, and begins to follow it.
   *
   * @param directory a store or a database
   * @throws NoSuchFileException if there is nothing, or not the current version
   * @throws NotDirectoryException if it is neither a store nor a database
   * @throws tech.bsdb.error.CorruptDatabaseException if what is current is damaged
   */
  public static ReloadingDatabase open(Path directory, ReloadOptions options) throws IOException {
    refuseUnlessServable(directory);
    boolean store = Store.isStore(directory);
    Opening opening = new Opening(options.open(), options.preload());
    for (int attempt = 1; ; attempt++) {
      NamedVersion target =
          store ? NamedVersion.ofStore(directory) : NamedVersion.ofDatabase(directory);
      if (target == null) {
        throw new NoSuchFileException(
            directory.resolve(Pointer.FILE).toString(),
            null,
            "names no version; to make one current: bsdb rollback " + directory + " VERSION");
      }
      try {
        Reloader reloader = new Reloader(directory, store, opening, options);
        reloader.start(target);
        return new ReloadingDatabase(directory, reloader);
      } catch (IOException e) {
        boolean moved = store && !Objects.equals(target, NamedVersion.ofStore(directory));
        if (!moved || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static void refuseUnlessServable(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      throw new NoSuchFileException(
          directory.toString(),
          null,
          "no such directory; make a database by: bsdb build -i FILE -o "
              + directory
              + ", or a store by: bsdb publish DB "
              + directory);
    }
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(
          directory + " is not a directory; a database or a store of them is one");
    }
    if (Store.isStore(directory) || Directories.isDatabase(directory)) {
      return;
    }
    if (!Store.versionDirectories(directory).isEmpty() && Store.holdsDatabasesOnly(directory)) {
      throw new NotDirectoryException(
          directory
              + " is not a store with a current version: it has no "
              + Pointer.FILE
              + "; to make a version current: bsdb rollback "
              + directory
              + " VERSION");
    }
    throw new NotDirectoryException(
        directory
            + " is not a database, nor a store of databases; make one by: bsdb build -i FILE -o DB,"
            + " or: bsdb publish DB STORE");
  }

  /** The directory that is followed. */
  public Path directory() {
    return directory;
  }

  /** Whether it is a store's current version that is followed, not a plain database. */
  public boolean followsStore() {
    return reloader.followsStore();
  }

  /**
   * Leases the version that is served now; never waits. Close the lease soon: a version that was
   * replaced stays open until then.
   *
   * @throws IllegalStateException if this is closed
   */
  public Lease acquire() {
    while (true) {
      OpenVersion now = reloader.served();
      if (now == null) {
        throw new IllegalStateException("the database is closed");
      }
      if (now.tryAcquire()) {
        return new Lease(now);
      }
    }
  }

  /**
   * The value of a key in the version that is served now: see {@link Database#get}.
   *
   * @throws IllegalStateException if this is closed
   */
  public byte @Nullable [] get(byte[] key) throws IOException {
    try (Lease lease = acquire()) {
      return lease.database().get(key);
    }
  }

  /**
   * The values of many keys, all of one version: see {@link Database#getAll}.
   *
   * @throws IllegalStateException if this is closed
   */
  public List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
    try (Lease lease = acquire()) {
      return lease.database().getAll(keys);
    }
  }

  /**
   * The value of a key, later: see {@link Database#getAsync}. The version is leased until then.
   *
   * @throws IllegalStateException if this is closed
   */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key) {
    Lease lease = acquire();
    try {
      return lease.database().getAsync(key).whenComplete((value, failure) -> lease.close());
    } catch (RuntimeException | Error e) {
      lease.close();
      throw e;
    }
  }

  /**
   * Looks for another version now, and waits until that is done. What was refused before is tried
   * again.
   *
   * @return whether another version is served now
   * @throws IOException if the version that is current was refused: why; the old one goes on
   *     serving
   * @throws IllegalStateException if this is closed, or called by a listener
   */
  public boolean reload() throws IOException {
    return reloader.reload();
  }

  /** Why what is current is not served, or null if it is served. */
  public @Nullable Refusal refused() {
    return reloader.refused();
  }

  /** How many times another version went live. */
  public long swaps() {
    return reloader.swaps();
  }

  /**
   * Gives no more leases, waits until all are given back, and closes everything; a second call
   * waits, too. A thread that has a lease must not call it: it would wait for itself.
   */
  @Override
  public void close() {
    reloader.close();
  }
}
