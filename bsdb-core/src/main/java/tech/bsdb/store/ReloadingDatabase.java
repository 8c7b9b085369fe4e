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
import tech.bsdb.IoCounters;
import tech.bsdb.ValueReader;

/**
 * An open database that follows its directory: the current version of a store, or a plain database
 * replaced in place. Thread-safe.
 *
 * <p>The directory is polled for a new version. A new version is opened while the old one keeps
 * serving, then replaces it atomically; the old one is closed when its last lease is released. A
 * version that cannot be opened is rejected: the old version keeps serving, {@link #refused}
 * reports why, and opening is retried for as long as the new version is current.
 *
 * <pre>{@code
 * try (ReloadingDatabase users = ReloadingDatabase.open(store, ReloadOptions.defaults())) {
 *   try (Lease lease = users.acquire()) { // all lookups below use one version
 *     byte[] value = lease.database().get(key);
 *   }
 * }
 * }</pre>
 */
public final class ReloadingDatabase implements AutoCloseable {
  private static final int ATTEMPTS = 20;

  private final Path directory;
  private final Reloader reloader;

  /** How many value readers each thread is in. */
  private final ThreadLocal<int[]> readers = ThreadLocal.withInitial(() -> new int[1]);

  private ReloadingDatabase(Path directory, Reloader reloader) {
    this.directory = directory;
    this.reloader = reloader;
  }

  /**
   * Opens the current version in a directory and starts following it.
   *
   * @param directory a store or a database
   * @throws NoSuchFileException if the directory or its current version does not exist
   * @throws NotDirectoryException if the directory is neither a store nor a database
   * @throws tech.bsdb.error.CorruptDatabaseException if the current version is damaged
   */
  public static ReloadingDatabase open(Path directory, ReloadOptions options) throws IOException {
    refuseUnlessServable(directory);
    boolean store = Store.isStore(directory);
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
        Reloader reloader = new Reloader(directory, store, options);
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
          "no such directory; create a database with: bsdb build -i FILE -o "
              + directory
              + ", or a store with: bsdb publish DB "
              + directory);
    }
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(
          directory + " is not a directory; name a database or a store of databases");
    }
    if (Store.isStore(directory) || Directories.isDatabase(directory)) {
      return;
    }
    Store.requireCurrent(directory);
    throw new NotDirectoryException(
        directory
            + " is neither a database nor a store of databases; create one with: bsdb build -i FILE"
            + " -o DB, or: bsdb publish DB STORE");
  }

  /** The followed directory. */
  public Path directory() {
    return directory;
  }

  /** Whether this follows a store's current version rather than a plain database. */
  public boolean followsStore() {
    return reloader.followsStore();
  }

  /**
   * Leases the version currently served, without blocking. Close the lease soon: a replaced version
   * stays open until its leases are closed.
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
   * Looks up a key in the version currently served; see {@link Database#get}.
   *
   * @throws IllegalStateException if this is closed
   */
  public byte @Nullable [] get(byte[] key) throws IOException {
    try (Lease lease = acquire()) {
      return lease.database().get(key);
    }
  }

  /**
   * Shows a key's value in the version currently served to a reader; see {@link Database#read}. The
   * version stays leased until the reader returns.
   *
   * @throws IllegalStateException if this is closed
   */
  public <R> @Nullable R read(byte[] key, ValueReader<R> reader) throws IOException {
    int[] running = readers.get();
    try (Lease lease = acquire()) {
      running[0]++;
      try {
        return lease.database().read(key, reader);
      } finally {
        running[0]--;
      }
    }
  }

  /**
   * Looks up many keys, all in one version; see {@link Database#getAll}.
   *
   * @throws IllegalStateException if this is closed
   */
  public List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
    try (Lease lease = acquire()) {
      return lease.database().getAll(keys);
    }
  }

  /**
   * Looks up a key asynchronously; see {@link Database#getAsync}. The version stays leased until
   * the lookup completes.
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
   * Checks for a new version now and waits for the result. A version that was rejected before is
   * retried.
   *
   * @return whether a new version is now served
   * @throws IOException if the current version was rejected, with the reason; the old one keeps
   *     serving
   * @throws IllegalStateException if this is closed, or if a listener calls it
   */
  public boolean reload() throws IOException {
    return reloader.reload();
  }

  /** Why the current version is not served, or null if it is served. */
  public @Nullable Refusal refused() {
    return reloader.refused();
  }

  /** How many times a new version went live. */
  public long swaps() {
    return reloader.swaps();
  }

  /**
   * Returns the number and size of the reads in all versions since this was opened; see {@link
   * Database#ioCounters}.
   */
  public IoCounters ioCounters() {
    return reloader.ioCounters();
  }

  /**
   * Stops granting leases, waits until all are released, then closes everything. A second call
   * waits too. A thread that holds a lease must not call this, or it deadlocks.
   *
   * @throws IllegalStateException if a {@link ValueReader} calls this, whose lease it would have to
   *     wait for; everything stays open
   */
  @Override
  public void close() {
    if (readers.get()[0] > 0) {
      throw new IllegalStateException(
          directory + ": a value reader must not close the database that it reads");
    }
    reloader.close();
  }
}
