package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.BinScanner;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.HugePages;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ReadCount;
import tech.bsdb.locate.AddressedLocator;
import tech.bsdb.locate.Locator;
import tech.bsdb.locate.LocatorFactory;

/**
 * An open database: its files, and everything that looks up keys in them. What a lookup reads is up
 * to the {@link Locator}; how it reads, to the drivers {@link SingleLookups}, {@link StagedLookups}
 * and {@link QueuedLookups}. Thread-safe.
 */
public final class Lookup implements Closeable {
  private final DatabaseDirectory directory;
  private final Path realPath;
  private final EngineChoice.Chosen engines;
  private final Locator locator;
  private final ReadCount reads;
  private final HeldFiles scanned;
  private final byte @Nullable [] dictionary;
  private final Sessions sessions = new Sessions();
  private final SyncLookups sync;
  private final Object asyncLock = new Object();
  private volatile @Nullable AsyncLookups async;
  private boolean closing;

  private Lookup(
      DatabaseDirectory directory,
      EngineChoice.Chosen engines,
      Locator locator,
      ReadCount reads,
      HeldFiles scanned,
      byte @Nullable [] dictionary)
      throws IOException {
    this.directory = directory;
    this.realPath = directory.path().toRealPath();
    this.engines = engines;
    this.locator = locator;
    this.reads = reads;
    this.scanned = scanned;
    this.dictionary = dictionary;
    this.sync = new SyncLookups(locator, engines, directory.path(), sessions);
  }

  /**
   * Opens a database in time and memory that do not depend on its size.
   *
   * @param path the directory of the database
   * @param choice chooses the engine for each file
   * @param verify whether to verify each page at its first touch
   */
  public static Lookup open(Path path, EngineChoice choice, boolean verify) throws IOException {
    return DatabaseDirectory.withOpened(path, directory -> open(directory, choice, verify));
  }

  /**
   * Opens a database from within {@link DatabaseDirectory#withOpened}, which has just read its
   * directory.
   */
  public static Lookup open(DatabaseDirectory directory, EngineChoice choice, boolean verify)
      throws IOException {
    directory.refuseShard();
    ReadCount reads = new ReadCount();
    EngineChoice.Chosen engines = choice.choose(directory);
    engines.requireRoom(directory);
    byte[] dictionary = directory.facts().compressed() ? directory.dictionary() : null;
    List<Closeable> opened = new ArrayList<>();
    try {
      Locator locator = LocatorFactory.open(directory, engines, dictionary, verify, reads);
      opened.add(locator);
      HeldFiles scanned = HeldFiles.open(directory, directory.manifest().files(FileKind.DATA));
      opened.add(scanned);
      return new Lookup(directory, engines, locator, reads, scanned, dictionary);
    } catch (IOException | RuntimeException e) {
      closeAll(opened, e);
      throw e;
    }
  }

  /**
   * The value of a key.
   *
   * @return the value, empty if it is empty, or null if the key is absent
   * @throws IOException if the value cannot be read; a {@link CorruptDatabaseException} if its
   *     bytes are damaged
   * @throws IllegalStateException if the database is closed
   */
  public byte @Nullable [] get(byte[] key) throws IOException {
    return sync.get(key);
  }

  /**
   * Like {@link #get(byte[])}, but requests memory from a budget.
   *
   * @throws MemoryBudgetExceededException if the budget has no room
   */
  public byte @Nullable [] get(byte[] key, @Nullable LongPredicate budget) throws IOException {
    return sync.get(key, budget);
  }

  /** Shows a value to a visitor. Separate from it, so that no lookup has to create one. */
  @FunctionalInterface
  public interface Visit<V, R> {
    /** Runs the visitor on a value, a read-only slice. */
    @Nullable R visit(V visitor, ByteBuffer value) throws IOException;
  }

  /**
   * Shows the value of a key to a visitor, where it lies.
   *
   * @return what the visit returns, or null if the key is absent
   * @throws IOException if the value cannot be read, or by the visit
   * @throws IllegalStateException if the database is closed
   */
  public <V, R> @Nullable R show(byte[] key, V visitor, Visit<V, R> visit) throws IOException {
    return sync.show(key, visitor, visit);
  }

  /** An action on the locator. */
  @FunctionalInterface
  public interface Use<T> {
    /** Runs the action. */
    T with(Locator locator) throws IOException;
  }

  /**
   * Runs an action on the locator, which stays open until the action ends, and translates
   * exceptions that damage causes into those that callers expect.
   *
   * @throws IllegalStateException if the database is closed
   */
  public <T> T withLocator(Use<T> use) throws IOException {
    return Objects.requireNonNull(sync.inSession(session -> use.with(locator)));
  }

  /** Whether the index maps the key to the given address; reads no record. */
  public boolean leadsTo(byte[] key, long address) throws IOException {
    if (!(locator instanceof AddressedLocator addressed)) {
      return false;
    }
    Boolean leads =
        sync.inSession(
            session -> {
              Probe probe = session.probe;
              long slot = addressed.start(key, probe.signature);
              return addressed.leadsTo(slot, address, probe.before);
            });
    return Boolean.TRUE.equals(leads);
  }

  /**
   * Scans all records through descriptors held since the database was opened. The scan continues
   * even if the directory is replaced or deleted, or this lookup is closed.
   *
   * @throws UnsupportedOperationException if the database is approximate: it holds no keys
   * @throws IllegalStateException if the database is closed
   */
  public RecordScanner scan() throws IOException {
    return scan(true);
  }

  /**
   * Like {@link #scan()}; {@code values} selects whether the scanner returns values or only keys.
   */
  public RecordScanner scan(boolean values) throws IOException {
    if (directory.facts().approximate()) {
      throw new UnsupportedOperationException(
          directory.path() + " is approximate: it keeps no keys, so it cannot be scanned");
    }
    sessions.giveBack(sessions.take());
    List<DataFile> files = scanned.dataFiles(reads);
    try {
      return new RecordScanner(
          files, directory.facts().layout(), directory.facts().addresses(), dictionary, values);
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  /**
   * Scans all bins of a packed database; otherwise like {@link #scan()}.
   *
   * @throws IllegalStateException if the database is closed
   */
  public BinScanner scanBins() throws IOException {
    sessions.giveBack(sessions.take());
    List<DataFile> files = scanned.dataFiles(reads);
    try {
      return new BinScanner(files, directory.facts().layout(), dictionary);
    } catch (IllegalArgumentException e) {
      throw directory.badDictionary(files, e);
    }
  }

  /** Creates a batch of keys, which one thread may use repeatedly. */
  public KeyBatch batch() {
    return new KeyBatch(sync::getAll);
  }

  /**
   * The values of many keys, in the order of the keys.
   *
   * @return a list with null for each absent key
   */
  public List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
    byte @Nullable [][] values = new byte[keys.size()][];
    new KeyBatch(sync::getAll, keys.toArray(new byte[0][]), values).get();
    return Collections.unmodifiableList(Arrays.asList(values));
  }

  /** Looks up a key asynchronously. */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key) {
    return getAsync(key, null);
  }

  /** Looks up a key asynchronously, requesting memory from a budget if there is one. */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key, @Nullable LongPredicate budget) {
    CompletableFuture<byte @Nullable []> future = new CompletableFuture<>();
    Answer answer =
        new Answer() {
          @Override
          public void completed(byte @Nullable [] value) {
            future.complete(value);
          }

          @Override
          public void failed(Throwable why) {
            future.completeExceptionally(why);
          }
        };
    try {
      async().get(key, answer, budget);
    } catch (IOException | IllegalStateException e) {
      future.completeExceptionally(e);
    }
    return future;
  }

  /**
   * The asynchronous lookups, created by the first call and closed with this.
   *
   * @throws IOException if the system refuses to set up a ring
   * @throws IllegalStateException if the database is closed
   */
  public AsyncLookups async() throws IOException {
    AsyncLookups made = async;
    if (made == null) {
      synchronized (asyncLock) {
        made = async;
        if (made == null) {
          if (closing) {
            throw new IllegalStateException("the database is closed");
          }
          made = new AsyncLookups(sync, locator, engines);
          async = made;
        }
      }
    }
    return made;
  }

  /** Whether the data files contain records that were dropped as duplicates. */
  boolean holdsDropped() {
    return directory.facts().duplicatesDropped() > 0 && !directory.facts().packed();
  }

  /**
   * The reads since opening, including those of {@link #scan scans}; also available after closing.
   */
  public ReadCount reads() {
    return reads;
  }

  /** How much of the mapped and loaded files is in memory; nothing if the database is closed. */
  public HugePages.Use memoryUse() throws IOException {
    List<Path> mapped = new ArrayList<>();
    for (FileEntry entry : directory.manifest().files()) {
      mapped.add(realPath.resolve(entry.name(directory.id())));
    }
    List<LoadedEngine> loaded = new ArrayList<>();
    if (engines.index() instanceof LoadedEngine engine) {
      loaded.add(engine);
    }
    if (engines.data() instanceof LoadedEngine engine) {
      loaded.add(engine);
    }
    LoadedEngine filters = engines.filterLoader();
    if (filters != null) {
      loaded.add(filters);
    }
    return HugePages.of(mapped, loaded);
  }

  /** The directory of the open database. */
  public DatabaseDirectory directory() {
    return directory;
  }

  /** Whether lookups read only mapped or loaded memory and make no read calls. */
  public boolean readsMemory() {
    return sync.readsMemory();
  }

  /** The engine in use and the reason for choosing it. */
  public String engine() {
    return engines.reason();
  }

  /**
   * Waits for running lookups and releases everything; a second call does nothing.
   *
   * @throws IllegalStateException if the calling thread is showing a value to a visitor, for which
   *     it would have to wait
   */
  @Override
  public void close() throws IOException {
    if (sessions.isShowing()) {
      throw new IllegalStateException(
          directory.path() + ": a value reader must not close the database that it reads");
    }
    AsyncLookups made;
    synchronized (asyncLock) {
      closing = true;
      made = async;
    }
    if (made != null) {
      made.close();
    }
    Sessions.Closing closing = sessions.close();
    if (closing == Sessions.Closing.SESSION_LOST) {
      throw new IOException(
          directory.path()
              + ": closed after a mapped file failed; its files stay open until the process ends");
    }
    if (closing == Sessions.Closing.DONE) {
      IOException failure = new IOException("could not close " + directory.path());
      IOException ofSession = sessions.failure();
      if (ofSession != null) {
        failure.addSuppressed(ofSession);
      }
      closeAll(List.of(locator, scanned), failure);
      if (failure.getSuppressed().length > 0) {
        throw failure;
      }
    }
  }

  private static void closeAll(List<Closeable> opened, Exception failure) {
    List<Closeable> reversed = new ArrayList<>(opened);
    Collections.reverse(reversed);
    for (Closeable resource : reversed) {
      try {
        resource.close();
      } catch (IOException | RuntimeException e) {
        failure.addSuppressed(e);
      }
    }
  }
}
