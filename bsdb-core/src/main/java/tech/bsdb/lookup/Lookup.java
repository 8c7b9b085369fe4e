package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.MemoryUse;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.PlacedRecords;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.HugePages;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ReadCount;
import tech.bsdb.order.OrderIndex;

/**
 * An open database: its files, and everything that looks up keys in them. What a lookup reads is up
 * to the {@link Locator}; how it reads, to the drivers {@link MemoryGet}, {@link SingleLookups},
 * {@link Staged} and {@link QueuedLookups}. Thread-safe.
 */
public final class Lookup implements Closeable {
  private final DataSet opened;
  private final Path realPath;
  private final EngineChoice.Chosen engines;
  private final Route route;
  private final ReadCount reads;
  private final List<OpenPart> parts;

  /** Everything to close, in the order of opening. */
  private final List<Closeable> files;

  /** The order of the keys of each database; none if it was not stored. */
  private final List<OrderIndex> orders;

  private final SyncLookups sync;
  private final Object asyncLock = new Object();
  private volatile @Nullable AsyncLookups async;
  private boolean closing;

  private Lookup(
      DataSet opened,
      EngineChoice.Chosen engines,
      Route route,
      boolean verify,
      ReadCount reads,
      List<OpenPart> parts,
      List<Closeable> files)
      throws IOException {
    this.opened = opened;
    this.realPath = opened.path().toRealPath();
    this.engines = engines;
    this.route = route;
    this.reads = reads;
    this.parts = List.copyOf(parts);
    this.files = List.copyOf(files);
    this.orders = parts.stream().map(OpenPart::order).filter(Objects::nonNull).toList();
    this.sync = new SyncLookups(route, engines, opened.path(), verify);
  }

  /**
   * Opens a database or a set of shards, in time and memory that do not depend on its size.
   *
   * @param path the directory
   * @param choice chooses the engine for each file
   * @param verify whether to verify each page at its first touch
   */
  public static Lookup open(Path path, EngineChoice choice, boolean verify) throws IOException {
    return DataSet.withOpened(path, opened -> open(opened, choice, verify));
  }

  /** Opens what {@link DataSet#withOpened} has just read. */
  public static Lookup open(DataSet opened, EngineChoice choice, boolean verify)
      throws IOException {
    ReadCount reads = new ReadCount();
    EngineChoice.Chosen engines = choice.choose(opened);
    engines.requireRoom(opened);
    List<Closeable> files = new ArrayList<>();
    try {
      List<Locator> locators = new ArrayList<>();
      List<OpenPart> parts = new ArrayList<>();
      for (DatabaseDirectory each : opened.databases()) {
        byte[] dictionary = each.facts().compressed() ? each.dictionary() : null;
        Locator locator = LocatorFactory.open(each, engines, dictionary, verify, reads);
        files.add(locator);
        locators.add(locator);
        OpenPart part = OpenPart.open(each, dictionary, engines.data(), verify, reads);
        files.add(part);
        parts.add(part);
      }
      return new Lookup(opened, engines, new Route(opened, locators), verify, reads, parts, files);
    } catch (IOException | RuntimeException e) {
      closeAll(files, e);
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

  /** An action on the locators. */
  @FunctionalInterface
  public interface Use<T> {
    /** Runs the action. */
    T with(Route route) throws IOException;
  }

  /**
   * Runs an action on the locators, which stay open until the action ends, and translates
   * exceptions that damage causes into those that callers expect.
   *
   * @throws IllegalStateException if the database is closed
   */
  public <T> T withLocators(Use<T> use) throws IOException {
    return Objects.requireNonNull(sync.inSession(session -> use.with(route)));
  }

  /** Whether the index maps the key to the given address; reads no record. */
  public boolean leadsTo(byte[] key, long address) throws IOException {
    if (!(route.of(key) instanceof AddressedLocator addressed)) {
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
   * Opens the data files of some databases for a scan, through descriptors held since the opening.
   *
   * @param first the number of the first database, 0 for a single one
   * @param end the number behind the last one
   * @param wanted the part to scan of each
   * @throws UnsupportedOperationException if the database is approximate: it holds no keys
   * @throws IllegalStateException if the database is closed
   */
  Queue<RecordWalk.Ahead> filesToScan(int first, int end, ScanParts wanted) throws IOException {
    requireKeys();
    Queue<RecordWalk.Ahead> all = new ArrayDeque<>();
    try {
      for (int i = first; i < end; i++) {
        List<FileRange> ranges = ranges(i, wanted);
        all.add(new RecordWalk.Ahead(parts.get(i), dataFiles(i), ranges));
      }
      return all;
    } catch (IOException | RuntimeException e) {
      List<Closeable> files = new ArrayList<>();
      all.forEach(each -> files.addAll(each.files()));
      closeAll(files, e);
      throw e;
    }
  }

  /**
   * Opens the data files of one of the databases, through descriptors held since the opening. Each
   * page is verified at its first touch. The caller closes them.
   *
   * @param database the number of the database, 0 for a single one
   * @throws UnsupportedOperationException if the database is approximate: it holds no keys
   * @throws IllegalStateException if the database is closed
   */
  public List<DataFile> dataFiles(int database) throws IOException {
    requireKeys();
    return parts.get(database).scanned().dataFiles(reads);
  }

  /** The ranges of a part in the data files of one of the databases. */
  private List<FileRange> ranges(int database, ScanParts wanted) throws IOException {
    DatabaseDirectory directory = parts.get(database).directory();
    List<FileEntry> files = directory.manifest().files(FileKind.DATA);
    if (wanted.isWhole()) {
      return FileRange.whole(files.size());
    }
    if (!(route.locator(database) instanceof AddressedLocator addressed)) {
      return wanted.ofPages(files);
    }
    Facts facts = directory.facts();
    long[] sample =
        sync.inSession(session -> addressed.sample(facts.records(), session.probe.before));
    return wanted.ofAddresses(files.size(), facts.addresses(), Objects.requireNonNull(sample));
  }

  private void requireKeys() throws IOException {
    if (opened.facts().approximate()) {
      throw new UnsupportedOperationException(
          opened.path() + " is approximate: it keeps no keys, so it cannot be scanned");
    }
    sync.requireOpen();
  }

  /**
   * Scans all records of a single database, or of one of the shards, including dropped duplicates.
   * The scan continues even if the directory is replaced or deleted, or this lookup is closed.
   *
   * @param database the number of the database, 0 for a single one
   * @param values whether the scanner returns values or only keys
   * @throws UnsupportedOperationException if the database is approximate: it holds no keys
   * @throws IllegalStateException if the database is closed
   */
  public RecordScanner scan(int database, boolean values) throws IOException {
    List<DataFile> files = dataFiles(database);
    return parts.get(database).scan(files, values, FileRange.whole(files.size()));
  }

  /** Whether the order of the keys was stored. */
  public boolean isOrdered() {
    return orders.size() == parts.size();
  }

  /**
   * The order of the keys of each database.
   *
   * @throws UnsupportedOperationException if it was not stored
   */
  List<OrderIndex> orders() {
    if (!isOrdered()) {
      throw new UnsupportedOperationException(
          opened.path()
              + " has no order of its keys: build it with --ordered"
              + " (BuildOptions.withOrderedKeys)");
    }
    return orders;
  }

  /** The number of the database for a key. */
  int database(byte[] key) throws WrongShardException {
    return route.number(key);
  }

  /**
   * Runs an action that reads the order of keys, whose files stay open until it ends, and
   * translates exceptions that damage causes into those that callers expect.
   *
   * @throws IllegalStateException if the database is closed
   */
  <T> @Nullable T withOrder(SyncLookups.Use<T> use) throws IOException {
    return sync.inSession(use);
  }

  /** Reports a key of the order that has no record where the order says. */
  CorruptDatabaseException withoutRecord(byte[] key) throws WrongShardException {
    DatabaseDirectory database = parts.get(route.number(key)).directory();
    return database
        .check(database.manifest().files(FileKind.ORDER).get(0))
        .corrupt(0, "keys that have records", "one that has none at its place");
  }

  /**
   * Fails if this is closed.
   *
   * @throws IllegalStateException if the database is closed
   */
  void requireOpen() {
    sync.requireOpen();
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
    new KeyBatch(sync::getAll, keys.toArray(new byte[0][]), null, keys.size(), values).get();
    return Collections.unmodifiableList(Arrays.asList(values));
  }

  /**
   * Looks up keys together.
   *
   * @param places the places of the final reads, or null if they are not known
   * @param count how many of the keys
   * @param values receives the values, null for each absent key
   */
  void getAll(
      byte[][] keys,
      long @Nullable [] places,
      int count,
      byte[] @Nullable [] values,
      Session session)
      throws IOException {
    new KeyBatch(batch -> sync.getAll(batch, session), keys, places, count, values).get();
  }

  /**
   * Reads the values of records of a database, if they lie together; see {@link
   * SyncLookups#readTogether}.
   */
  boolean readTogether(PlacedRecords records, int database, Session session) throws IOException {
    return sync.readTogether(records, database, session);
  }

  /** Whether batches overlap reads or cache misses. */
  boolean overlaps() {
    return sync.overlaps();
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
          made = new AsyncLookups(sync, route, engines);
          async = made;
        }
      }
    }
    return made;
  }

  /**
   * The reads since opening, including those of {@link #scan scans}; also available after closing.
   */
  public ReadCount reads() {
    return reads;
  }

  /** How much of the mapped and loaded files is in memory; nothing if the database is closed. */
  public MemoryUse memoryUse() throws IOException {
    List<Path> mapped = new ArrayList<>();
    for (DataSet.Located file : opened.files()) {
      mapped.add(realPath.resolve(opened.path().relativize(file.path())));
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

  /** What was opened. */
  public DataSet opened() {
    return opened;
  }

  /** Whether only some shards of a set were opened, or one alone. */
  public boolean isShard() {
    return opened.databases().size() < opened.facts().shards();
  }

  /**
   * Checks that a key belongs to what was opened.
   *
   * @throws WrongShardException if it belongs to a shard that was not opened
   */
  public void requireOwn(byte[] key) throws WrongShardException {
    int unused = route.number(key);
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
   * Releases everything; a second call does nothing. Waits for lookups that read a device or need
   * working memory, and for visitors of values; other lookups in memory may fail, because the
   * database is closed.
   *
   * @throws IllegalStateException if the calling thread is showing a value to a visitor, for which
   *     it would have to wait
   */
  @Override
  public void close() throws IOException {
    if (sync.isShowing()) {
      throw new IllegalStateException(
          opened.path() + ": a value reader must not close the database that it reads");
    }
    AsyncLookups made;
    synchronized (asyncLock) {
      closing = true;
      made = async;
    }
    if (made != null) {
      made.close();
    }
    Sessions.Closing outcome = sync.close();
    if (outcome == Sessions.Closing.SESSION_LOST) {
      throw new IOException(
          opened.path()
              + ": closed after a mapped file failed; its files stay open until the process ends");
    }
    if (outcome == Sessions.Closing.DONE) {
      IOException failure = new IOException("could not close " + opened.path());
      IOException ofSession = sync.closingFailure();
      if (ofSession != null) {
        failure.addSuppressed(ofSession);
      }
      closeAll(files, failure);
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
