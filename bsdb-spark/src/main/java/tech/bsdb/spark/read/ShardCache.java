package tech.bsdb.spark.read;

import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.Utils;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.Download;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * The copies of distant databases that this process keeps below Spark's local directory. Each is
 * brought once, verified page by page as it arrives, and shared by all tasks that read it; it is
 * removed when others need its room and nobody reads it, and at the end of the process.
 * Thread-safe.
 *
 * <pre>
 * bsdb-PROCESS/ID-N/ID/   a database, below the staging directory of its own download
 * </pre>
 */
final class ShardCache {
  private static final long POLL_MILLIS = 100;
  private static final ShardCache OF_PROCESS =
      new ShardCache(ShardCache::belowSpark, TransferOptions.defaults());

  private final Supplier<Path> places;
  private final TransferOptions transfer;
  private final Map<String, Copy> copies = new HashMap<>();
  private @Nullable Path directory;
  private long clock;

  /**
   * Creates a cache, which touches no file yet.
   *
   * @param places gives the directory, which is removed at the end of the process
   */
  ShardCache(Supplier<Path> places, TransferOptions transfer) {
    this.places = places;
    this.transfer = transfer;
  }

  static ShardCache ofProcess() {
    return OF_PROCESS;
  }

  private static Path belowSpark() {
    SparkEnv running = SparkEnv.get();
    String own =
        running == null
            ? System.getProperty("java.io.tmpdir")
            : running.blockManager().diskBlockManager().localDirs()[0].getPath();
    return Utils.createTempDir(own, "bsdb").toPath();
  }

  /** A database that is here, or on its way. Guarded by the cache, except for {@link #bringing}. */
  private static final class Copy {
    final Path staging;

    /** Held by the thread that brings it. */
    final ReentrantLock bringing = new ReentrantLock();

    @Nullable Database database;
    long bytes;
    int users;
    long lastUsed;

    Copy(Path staging, long bytes) {
      this.staging = staging;
      this.bytes = bytes;
    }
  }

  /** The use of a copy, until it is closed. */
  final class Lease implements Closeable {
    private final Copy copy;
    private final Database database;
    private boolean closed;

    private Lease(Copy copy, Database database) {
      this.copy = copy;
      this.database = database;
    }

    Database database() {
      return database;
    }

    @Override
    public void close() {
      synchronized (ShardCache.this) {
        if (!closed) {
          closed = true;
          leave(copy);
        }
      }
    }
  }

  /**
   * Brings a database unless it is here, and keeps it while it is used.
   *
   * @param origin the location of the table
   * @param mostBytes the most bytes to keep, beyond which databases that nobody reads are removed
   * @param checkRunning called often; throws if the task was cancelled
   */
  Lease lease(ShardPlace place, DistantDirectory origin, long mostBytes, Runnable checkRunning)
      throws IOException {
    Copy copy = enter(place);
    boolean leased = false;
    try {
      lock(copy, checkRunning);
      try {
        Database database = copy.database;
        if (database == null) {
          makeRoom(copy, mostBytes);
          database = bring(place, origin, copy, checkRunning);
        }
        leased = true;
        return new Lease(copy, database);
      } finally {
        copy.bringing.unlock();
      }
    } finally {
      if (!leased) {
        synchronized (this) {
          leave(copy);
        }
      }
    }
  }

  /** Uses a database that is here; null if it is not. */
  synchronized @Nullable Lease leaseIfHere(ShardPlace place) {
    Copy copy = copies.get(place.id());
    Database database = copy == null ? null : copy.database;
    if (copy == null || database == null) {
      return null;
    }
    copy.users++;
    return new Lease(copy, database);
  }

  private synchronized Copy enter(ShardPlace place) throws IOException {
    Path root = directory;
    if (root == null) {
      root = places.get();
      directory = root;
    }
    Copy copy = copies.get(place.id());
    if (copy == null) {
      // never the directory of one that is being removed
      copy = new Copy(root.resolve(place.id() + "-" + ++clock), place.bytes());
      copies.put(place.id(), copy);
    }
    copy.users++;
    return copy;
  }

  /** Ends a use; called with the cache's monitor. */
  private void leave(Copy copy) {
    copy.users--;
    copy.lastUsed = ++clock;
  }

  /** Waits for another task that brings the same database. */
  private static void lock(Copy copy, Runnable checkRunning) throws IOException {
    try {
      while (!copy.bringing.tryLock(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        checkRunning.run();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the task was interrupted");
    }
  }

  /** Removes databases that nobody reads, the least recently used first. */
  private void makeRoom(Copy coming, long mostBytes) throws IOException {
    for (Copy idle : unused(coming, mostBytes)) {
      if (idle.database != null) {
        idle.database.close();
      }
      Download.clear(idle.staging);
    }
  }

  /** Takes databases off the list until the coming one has room, or all others are in use. */
  private synchronized List<Copy> unused(Copy coming, long mostBytes) {
    List<Copy> idle =
        copies.values().stream()
            .filter(copy -> copy.users == 0)
            .sorted(Comparator.comparingLong(copy -> copy.lastUsed))
            .toList();
    long kept = copies.values().stream().mapToLong(copy -> copy.bytes).sum();
    long free = root(coming).toFile().getUsableSpace();
    List<Copy> removed = new ArrayList<>();
    for (Copy copy : idle) {
      if (kept <= mostBytes && free >= coming.bytes) {
        break;
      }
      kept -= copy.bytes;
      free += copy.bytes;
      copies.values().remove(copy);
      removed.add(copy);
    }
    return removed;
  }

  private Database bring(
      ShardPlace place, DistantDirectory origin, Copy copy, Runnable checkRunning)
      throws IOException {
    Shipment.Part part = new Shipment.Part(place.id(), "");
    Shipment shipment =
        new Shipment(place.directory(), place.id(), place.records(), new byte[0], List.of(part));
    Download download = new Download(origin, shipment, copy.staging, transfer, checkRunning);
    try {
      download.run(List.of(), List.of());
    } catch (CancellationException e) {
      checkRunning.run(); // which tells more
      throw e;
    } catch (FileSystemException e) {
      if (!String.valueOf(e.getFile()).startsWith(root(copy).toString())) {
        throw e; // of the origin
      }
      throw unwritable(place, copy, e);
    }
    Database opened = Database.open(download.directory(part));
    synchronized (this) {
      copy.database = opened;
      copy.bytes = size(download.directory(part));
    }
    return opened;
  }

  private static Path root(Copy copy) {
    return Objects.requireNonNull(copy.staging.getParent());
  }

  /**
   * Tells that a copy cannot be written, and gives back what room it took: others may need it. What
   * has arrived is verified, so it could have stayed otherwise.
   */
  private static IOException unwritable(ShardPlace place, Copy copy, FileSystemException why) {
    try {
      Download.clear(copy.staging);
    } catch (IOException e) {
      why.addSuppressed(e);
    }
    Path root = root(copy);
    return new IOException(
        ("%s cannot be copied to this machine: %s. Copies are below %s, where %s bytes are free"
                + " now: make room, or let Spark's local directories (spark.local.dir) be on a larger"
                + " disk")
            .formatted(place, why.getMessage(), root, root.toFile().getUsableSpace()),
        why);
  }

  private static long size(Path directory) throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        bytes += Files.size(file);
      }
    }
    return bytes;
  }

  /** The number of databases that are here or on their way. */
  synchronized int size() {
    return copies.size();
  }

  /**
   * An open database of a table, for one task.
   *
   * @param release closes it, or gives back the copy
   */
  record OpenShard(Database database, Closeable release) implements Closeable {
    /**
     * Opens databases for a task. Immutable.
     *
     * @param configuration that of Hadoop
     * @param cacheBytes the most bytes of copies
     * @param task the task; null outside of one
     */
    record ShardOpener(Configuration configuration, long cacheBytes, @Nullable TaskContext task) {
      /** Fails if the task was cancelled. */
      void checkRunning() {
        if (task != null) {
          task.killTaskIfInterrupted();
        }
      }

      /**
       * Opens a database where it is, or the copy of it that this process keeps.
       *
       * @throws IOException if it is no longer there, or damaged
       */
      OpenShard open(ShardPlace place) throws IOException {
        ShardCache cache = ShardCache.ofProcess();
        ShardCache.Lease here = cache.leaseIfHere(place);
        if (here != null) {
          return new OpenShard(here.database(), here);
        }
        try (DistantDirectory directory = DistantDirectory.open(place.location(), configuration)) {
          Path local = directory.local();
          if (local != null) {
            Database opened = inPlace(local.resolve(place.directory()), place);
            return new OpenShard(opened, opened::close);
          }
          ShardCache.Lease lease = cache.lease(place, directory, cacheBytes, this::checkRunning);
          return new OpenShard(lease.database(), lease);
        } catch (NoSuchFileException | NotDirectoryException | FileNotFoundException e) {
          throw vanished(place, e);
        }
      }
    }

    private static Database inPlace(Path path, ShardPlace place) throws IOException {
      Database opened = Database.open(path);
      if (!opened.statistics().databaseId().equals(place.id())) {
        opened.close();
        throw vanished(place, null);
      }
      return opened;
    }

    /** Tells that the database is not the one that the query was planned for. */
    static IOException vanished(ShardPlace place, @Nullable IOException why) {
      return new IOException(
          ("%s: the database %s that this query reads is no longer there; it was removed or replaced"
                  + " while the query ran. Run the query again, and let stores keep more versions%s")
              .formatted(place, place.id(), why == null ? "" : " (" + why.getMessage() + ")"),
          why);
    }

    @Override
    public void close() throws IOException {
      release.close();
    }
  }
}
