package tech.bsdb.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UntrustedException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ManifestSignature;
import tech.bsdb.format.ShardSet;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.io.Uninterrupted;

/**
 * Fetches the databases of a shipment. Those that are already nearby, with the same database id and
 * every page good, are not fetched again; the files of a failed or killed download are verified and
 * resumed.
 *
 * <pre>
 * STAGING/ID/                 a database that arrives, by its database id
 * STAGING/ID/data-000-ID8...  its files, of which only verified pages are written
 * STAGING/ID/manifest.part    its manifest, renamed to manifest.bsdb once all files are whole
 * </pre>
 *
 * <p>Used by one thread; {@link #run} starts others and waits for them.
 */
public final class Download {
  private static final int VERIFIED_AT_ONCE = 1 << 18;
  private static final String UNFINISHED_MANIFEST = "manifest.part";

  private final Origin origin;
  private final Shipment shipment;
  private final Path staging;
  private final TransferOptions options;
  private final Traffic traffic;
  private final Map<String, Path> found = new HashMap<>();
  private final List<Arrival> arrivals = new ArrayList<>();
  private long reusedFiles;
  private long reusedBytes;
  private volatile boolean failed;

  /**
   * Creates a download without touching any file.
   *
   * @param staging the directory for what arrives, on the file system where it will be used
   * @param checkOpen called often, by many threads; throws to cancel
   */
  public Download(
      Origin origin, Shipment shipment, Path staging, TransferOptions options, Runnable checkOpen) {
    this.origin = origin;
    this.shipment = shipment;
    this.staging = staging;
    this.options = options;
    this.traffic =
        new Traffic(
            options,
            () -> {
              checkOpen.run();
              if (failed) {
                throw new CancellationException("another file failed");
              }
            });
  }

  /** A database to fetch. */
  private static final class Arrival {
    final Shipment.Part part;
    final DatabaseId id;
    final Path directory;
    final List<FileEntry> files;
    final AtomicInteger missing;

    Arrival(Shipment.Part part, Path directory, ManifestFile stated) throws IOException {
      this.part = part;
      this.id = stated.id();
      this.directory = directory;
      this.files = DatabaseDirectory.of(directory, stated).manifest().files();
      this.missing = new AtomicInteger(files.size());
    }
  }

  /**
   * Fetches what is missing. What arrived stays in the staging directory if this fails.
   *
   * @param nearby directories of databases and sets here that may have some of it
   * @param made directories of databases that were made to be used here: their pages are known to
   *     be good, and they do not count as reused
   * @throws NoSuchFileException if the origin lacks a file
   * @throws FileSystemException if a file here cannot be written, or lacks room
   * @throws CancellationException if it was cancelled
   */
  public void run(List<Path> nearby, List<Path> made) throws IOException {
    Files.createDirectories(staging);
    removeOthers();
    ExecutorService threads =
        Executors.newFixedThreadPool(
            options.threads(),
            task -> {
              Thread thread = new Thread(task, "bsdb-transfer");
              thread.setDaemon(true);
              return thread;
            });
    try {
      Map<String, Path> known = known(nearby);
      known.putAll(known(made));
      List<Task> looks = new ArrayList<>();
      shipment
          .parts()
          .forEach(part -> looks.add(() -> reuseOrBegin(part, known.get(part.id()), made)));
      all(threads, looks);
      List<Task> files = new ArrayList<>();
      for (Arrival arrival : arrivals) {
        arrival.files.forEach(entry -> traffic.expect(entry.length()));
        arrival.files.forEach(entry -> files.add(() -> fetch(arrival, entry)));
      }
      requireRoom();
      all(threads, files);
    } finally {
      end(threads);
    }
  }

  /** The directory where a database of the shipment is, whole. */
  public Path directory(Shipment.Part part) {
    return Objects.requireNonNull(found.get(part.id()), "run first");
  }

  /** Whether the database came in this staging directory, and may be moved out of it. */
  public boolean isStaged(Shipment.Part part) {
    return directory(part).startsWith(staging);
  }

  /** What was done. */
  public TransferReport report() {
    return traffic.report(reusedFiles, reusedBytes);
  }

  /** Removes the staging directory with all that arrived. */
  public static void clear(Path staging) throws IOException {
    if (!Files.isDirectory(staging, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    for (Path directory : DurableFiles.list(staging)) {
      remove(directory);
    }
    Files.deleteIfExists(staging);
  }

  private static void remove(Path directory) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      for (Path file : DurableFiles.list(directory)) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(directory);
  }

  private Path staged(Shipment.Part part) {
    return staging.resolve(part.id());
  }

  /** Removes what arrived for other shipments and is in none of this. */
  private void removeOthers() throws IOException {
    Set<String> wanted = new HashSet<>();
    shipment.parts().forEach(part -> wanted.add(part.id()));
    for (Path directory : DurableFiles.list(staging)) {
      if (!wanted.contains(DurableFiles.name(directory))) {
        remove(directory);
      }
    }
  }

  /**
   * The directories of databases, by database id.
   *
   * @param nearby directories of databases and sets; those that cannot be read are left out
   */
  public static Map<String, Path> known(List<Path> nearby) {
    Map<String, Path> known = new HashMap<>();
    for (Path directory : nearby) {
      try {
        Path manifest = directory.resolve(Manifest.FILE_NAME);
        ManifestFile stated = ManifestFile.decode(manifest, Files.readAllBytes(manifest));
        if (stated.isSet()) {
          for (ShardSet.Shard shard : stated.set().heldShards()) {
            known.put(shard.id().toString(), directory.resolve(shard.directoryName()));
          }
        } else {
          known.put(stated.id().toString(), directory);
        }
      } catch (IOException unreadable) {
        // of no use here; whoever serves it will say more
      }
    }
    return known;
  }

  /** Takes a database that is nearby, if every page of it is good; reads its manifest if not. */
  private void reuseOrBegin(Shipment.Part part, @Nullable Path nearby, List<Path> made)
      throws IOException {
    List<FileEntry> files =
        nearby == null ? null : goodFiles(nearby, part, /* verified= */ made.contains(nearby));
    if (nearby == null || files == null) {
      readManifest(part);
      return;
    }
    synchronized (found) {
      found.put(part.id(), nearby);
      if (!made.contains(nearby)) {
        reusedFiles += files.size();
        reusedBytes += files.stream().mapToLong(FileEntry::length).sum();
      }
    }
  }

  /** The files of a database, or null if it is another one or any of its pages is damaged. */
  private @Nullable List<FileEntry> goodFiles(
      Path directory, Shipment.Part part, boolean verified) {
    if (!Files.isRegularFile(directory.resolve(Manifest.FILE_NAME))) {
      return null;
    }
    try {
      DataSet opened = DataSet.open(directory);
      if (opened.isSet() || !opened.id().toString().equals(part.id())) {
        return null;
      }
      Path manifest = directory.resolve(Manifest.FILE_NAME);
      requireTrusted(manifest.toString(), Files.readAllBytes(manifest));
      for (DataSet.Located file : verified ? List.<DataSet.Located>of() : opened.files()) {
        verify(file.path(), file.entry(), opened.id());
      }
      return opened.single().manifest().files();
    } catch (IOException damaged) {
      return null; // it arrives anew
    }
  }

  /** The shards of a set need no signatures of their own. */
  private void requireTrusted(String shown, byte[] manifest) throws UntrustedException {
    if (!shipment.isSet()) {
      ManifestSignature.require(shown, manifest, options.trusted());
    }
  }

  private void verify(Path file, FileEntry entry, DatabaseId id) throws IOException {
    try (InputStream in = new VerifiedStream(file, entry, id)) {
      byte[] chunk = new byte[VERIFIED_AT_ONCE];
      do {
        traffic.checkOpen();
      } while (in.read(chunk) >= 0);
    }
  }

  private void readManifest(Shipment.Part part) throws IOException {
    String file = Shipment.below(shipment.directory(part), Manifest.FILE_NAME);
    Path here = staged(part);
    Path named = here.resolve(Manifest.FILE_NAME);
    byte[] bytes =
        Shipment.small(
            origin,
            file,
            ManifestFile.MAX_BYTES,
            traffic,
            options,
            read -> {
              requireId(ManifestFile.decode(named, read), part);
              requireTrusted(origin.location(file), read);
            });
    Arrival arrival = new Arrival(part, here, ManifestFile.decode(named, bytes));
    if (!Files.isDirectory(here, LinkOption.NOFOLLOW_LINKS)) {
      Files.deleteIfExists(here);
      Files.createDirectory(here);
    }
    Path manifest = here.resolve(UNFINISHED_MANIFEST);
    Files.deleteIfExists(manifest);
    try {
      DurableFiles.write(manifest, bytes);
    } catch (IOException e) {
      throw FileFetch.named(manifest, e);
    }
    traffic.file();
    synchronized (arrivals) {
      arrivals.add(arrival);
    }
  }

  private static void requireId(ManifestFile stated, Shipment.Part part) throws IOException {
    if (stated.isSet() || !stated.id().toString().equals(part.id())) {
      throw new CorruptDatabaseException(
          stated.path(),
          16,
          "database id " + part.id(),
          stated.isSet() ? "a set of shards" : stated.id().toString());
    }
  }

  private void fetch(Arrival arrival, FileEntry entry) throws IOException {
    String name = entry.name(arrival.id);
    String file = Shipment.below(shipment.directory(arrival.part), name);
    new FileFetch(
            origin, file, entry, arrival.id, arrival.directory.resolve(name), traffic, options)
        .run();
    if (arrival.missing.decrementAndGet() == 0) {
      Files.move(
          arrival.directory.resolve(UNFINISHED_MANIFEST),
          arrival.directory.resolve(Manifest.FILE_NAME),
          StandardCopyOption.ATOMIC_MOVE);
      synchronized (found) {
        found.put(arrival.part.id(), arrival.directory);
      }
    }
  }

  /** Fails if the file system lacks the room, before anything large arrives. */
  private void requireRoom() throws IOException {
    long missing = 0;
    for (Arrival arrival : arrivals) {
      for (FileEntry entry : arrival.files) {
        Path file = arrival.directory.resolve(entry.name(arrival.id));
        missing += entry.length() - (Files.isRegularFile(file) ? Files.size(file) : 0);
      }
    }
    long free = Files.getFileStore(staging).getUsableSpace();
    if (missing > free) {
      throw new FileSystemException(
          String.valueOf(staging.getParent()),
          null,
          missing + " bytes are still to come, but only " + free + " bytes are free");
    }
  }

  /** A step of the transfer. */
  @FunctionalInterface
  private interface Task {
    void run() throws IOException;
  }

  /** Runs all tasks; the first failure ends the others. */
  private void all(ExecutorService threads, List<Task> tasks) throws IOException {
    ExecutorCompletionService<Void> completed = new ExecutorCompletionService<>(threads);
    for (Task task : tasks) {
      completed.submit(
          () -> {
            task.run();
            return null;
          });
    }
    for (int i = 0; i < tasks.size(); i++) {
      try {
        completed.take().get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("the transfer was interrupted");
      } catch (ExecutionException e) {
        throw OrderedTasks.failure(e);
      }
    }
  }

  /** Ends all threads, and waits for them: nothing may be written after this. */
  private void end(ExecutorService threads) {
    failed = true; // for what still runs
    threads.shutdownNow();
    Uninterrupted.until(threads::isTerminated, () -> threads.awaitTermination(1, TimeUnit.HOURS));
  }
}
