package tech.bsdb.store;

import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
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
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.remote.RemoteTraffic;

/**
 * An open database that follows its directory, local or remote: the current version of a store, or
 * a plain database replaced in place. Thread-safe.
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

  private final @Nullable Path directory;
  private final Reloader reloader;

  /** How many value readers each thread is in. */
  private final ThreadLocal<int[]> readers = ThreadLocal.withInitial(() -> new int[1]);

  private ReloadingDatabase(@Nullable Path directory, Reloader reloader) {
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
    return open(FollowedDirectory.of(directory, options), directory, options);
  }

  /**
   * Opens the current version of a store or a database in place, and starts following it there
   * without a copy. Checks for another version with one request every {@link ReloadOptions#poll},
   * to the pointer of a store or the manifest of a database; to open one takes those of {@link
   * Database#open(URI, RemoteOptions)}. A location with the scheme {@code file} is that of a
   * directory.
   *
   * @param options also here, their {@link RemoteOptions#trusted} keys are required
   * @param reload of these, {@link ReloadOptions#open} has no effect elsewhere
   * @throws IllegalArgumentException if nothing reads the scheme of the location, if files shall be
   *     {@linkplain ReloadOptions#preload preloaded} and no pages are kept on disk, or if only the
   *     options for opening, which have no effect elsewhere, have trusted keys
   * @throws IOException as {@link Database#open(URI, RemoteOptions)}
   */
  public static ReloadingDatabase open(URI location, RemoteOptions options, ReloadOptions reload)
      throws IOException {
    if ("file".equalsIgnoreCase(location.getScheme())) {
      return open(
          Path.of(location),
          options.trusted().isEmpty()
              ? reload
              : reload.withOpen(reload.open().withTrusted(options.trusted())));
    }
    requireFit(options, reload);
    return openDistant(FollowedOrigin.of(location, options), reload);
  }

  /**
   * Opens the current version at an origin and starts following it; see {@link #open(URI,
   * RemoteOptions, ReloadOptions)}.
   *
   * @param origin where the store or the database is; not closed by this
   */
  public static ReloadingDatabase open(
      RangeOrigin origin, RemoteOptions options, ReloadOptions reload) throws IOException {
    requireFit(options, reload);
    return openDistant(FollowedOrigin.of(origin, options, null), reload);
  }

  private static void requireFit(RemoteOptions options, ReloadOptions reload) {
    if (options.trusted().isEmpty() && !reload.open().trusted().isEmpty()) {
      throw new IllegalArgumentException(
          "the keys to trust for a database elsewhere are those of RemoteOptions, which has none");
    }
    if (reload.preload() != Preload.NONE && options.pageBytes() == 0) {
      throw new IllegalArgumentException(
          "a database elsewhere is preloaded to pages on disk, of which pageBytes allows none");
    }
  }

  private static ReloadingDatabase openDistant(FollowedOrigin source, ReloadOptions reload)
      throws IOException {
    try {
      return open(source, null, reload);
    } catch (IOException | RuntimeException e) {
      try {
        source.close();
      } catch (IOException of) {
        e.addSuppressed(of);
      }
      throw e;
    }
  }

  private static ReloadingDatabase open(
      Followed source, @Nullable Path directory, ReloadOptions options) throws IOException {
    for (int attempt = 1; ; attempt++) {
      NamedVersion target = source.named();
      if (target == null) {
        throw new NoSuchFileException(
            source.location(Pointer.FILE),
            null,
            "names no version; to make one current: bsdb rollback "
                + source.location("")
                + " VERSION");
      }
      try {
        Reloader reloader = new Reloader(source, options);
        reloader.start(target);
        return new ReloadingDatabase(directory, reloader);
      } catch (IOException e) {
        boolean gone = e instanceof NoSuchFileException || e instanceof AccessDeniedException;
        boolean perhaps = source.isStore() && (!source.isDistant() || gone);
        boolean moved = perhaps && !Objects.equals(target, source.named());
        if (!moved || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** The followed directory; null if it is remote. */
  public @Nullable Path directory() {
    return directory;
  }

  /** Where the followed store or database is, as people write it. */
  public String location() {
    return reloader.source().location("");
  }

  /** Whether this follows a store's current version rather than a plain database. */
  public boolean followsStore() {
    return reloader.source().isStore();
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
   * Returns the remote requests of all versions and of the checks for others since this was opened;
   * null if this follows a local directory.
   */
  public @Nullable RemoteTraffic remoteTraffic() {
    return reloader.traffic();
  }

  /**
   * Reports that a read of a remote version found its files gone or replaced. Whether another one
   * is current is then checked soon, but not more than once a second; this does not wait for it. No
   * effect for a local directory.
   */
  public void checkSoon() {
    if (reloader.source().isDistant()) {
      reloader.doubt();
    }
  }

  /**
   * Reports that a read of a remote version found its files replaced. It is then opened again soon,
   * even if it is the same database. Otherwise like {@link #checkSoon}.
   */
  public void reopenSoon() {
    if (reloader.source().isDistant()) {
      reloader.reopen();
    }
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
          location() + ": a value reader must not close the database that it reads");
    }
    reloader.close();
  }
}
