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
import tech.bsdb.MemoryUse;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.PlacedRecords;
import tech.bsdb.data.RecordBytes;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.Taking;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.Faults;
import tech.bsdb.io.HugePages;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.Resources;
import tech.bsdb.order.OrderIndex;

/**
 * An open database: its files, and everything that looks up keys in them. What a lookup reads is up
 * to the {@link Locator}. How it reads depends on the engines: single keys in memory go to a {@link
 * MemoryGet}; every other lookup takes a session, which reads single keys one extent after the
 * other, batches in memory {@link Staged in stages}, and batches of engines that overlap reads
 * {@link QueuedLookups through a queue}. Thread-safe.
 */
public final class Lookup implements Closeable {
  private final DataSet opened;
  private final Path realPath;
  private final EngineChoice.Chosen engines;
  private final Route route;
  private final ReadCount reads;
  private final List<OpenPart> parts;

  /** Everything to close. */
  private final Resources files;

  /** The order of the keys of each database; none if it was not stored. */
  private final List<OrderIndex> orders;

  private final boolean showsMemory;
  private final boolean verifies;

  /** Lends working memory, and waits for it before the files are closed. */
  final Sessions sessions;

  /**
   * The lookups of single keys, if all files are in memory and the layout allows it; otherwise, and
   * once the files are closed, null.
   */
  private volatile @Nullable MemoryGet memory;

  private final Object asyncLock = new Object();
  private volatile @Nullable AsyncLookups async;
  private boolean closing;

  private Lookup(
      DataSet opened,
      EngineChoice.Chosen engines,
      boolean verify,
      ReadCount reads,
      List<OpenPart> parts,
      Resources files)
      throws IOException {
    this.opened = opened;
    this.realPath = opened.path().toRealPath();
    this.engines = engines;
    this.route = new Route(opened, parts.stream().map(part -> part.locator).toList());
    this.reads = reads;
    this.parts = List.copyOf(parts);
    this.files = files;
    this.orders = parts.stream().map(part -> part.order).filter(Objects::nonNull).toList();
    this.verifies = verify;
    Locator any = route.any();
    boolean shown = true;
    for (int read = 0; read < any.reads(); read++) {
      shown &= engines.showsMemory(any.file(read));
    }
    this.showsMemory = shown;
    this.memory = shown ? inMemory(route) : null;
    this.sessions = new Sessions(opened.path(), opened.location());
  }

  private static @Nullable MemoryGet inMemory(Route route) {
    MemoryGet[] all = new MemoryGet[route.databases()];
    for (int i = 0; i < all.length; i++) {
      MemoryGet one = route.locator(i).inMemory();
      if (one == null) {
        return null;
      }
      all[i] = one;
    }
    return route.isUndivided() ? all[0] : new RoutedGet(route, all);
  }

  /**
   * Opens a database or a set of shards, in time and memory that do not depend on its size.
   *
   * @param path the directory
   * @param choice chooses the engine for each file
   * @param verify whether to verify each page at its first touch
   */
  public static Lookup open(Path path, EngineChoice choice, boolean verify) throws IOException {
    return DataSet.withOpened(path, List.of(), opened -> open(opened, choice, verify));
  }

  /** Opens what {@link DataSet#withOpened} has just read. */
  public static Lookup open(DataSet opened, EngineChoice choice, boolean verify)
      throws IOException {
    ReadCount reads = new ReadCount();
    EngineChoice.Chosen engines = choice.choose(opened);
    engines.requireRoom(opened);
    Resources files = new Resources();
    try {
      List<OpenPart> parts = new ArrayList<>();
      for (DatabaseDirectory each : opened.databases()) {
        parts.add(new OpenPart(each, engines, verify, reads, files));
      }
      return new Lookup(opened, engines, verify, reads, parts, files);
    } catch (IOException | RuntimeException e) {
      files.closeAfter(e);
      throw e;
    }
  }

  /** Lookups in shards in memory. */
  private record RoutedGet(Route route, MemoryGet[] databases) implements MemoryGet {
    @Override
    public <T> @Nullable T get(byte[] key, Taking<T> taking) throws IOException {
      return databases[route.number(key)].get(key, taking);
    }
  }

  /** Copies the values of files in memory, within a budget if there is one. */
  private record Copying(@Nullable LongPredicate budget) implements Taking<byte[]> {
    static final Copying FREELY = new Copying(null);

    @Override
    public byte[] take(ByteBuffer buffer, int at, int length) throws IOException {
      if (budget != null && !budget.test(length)) {
        throw new MemoryBudgetExceededException(length);
      }
      return RecordBytes.copy(buffer, at, length);
    }

    @Override
    public byte[] unread() {
      Faults.surface();
      return Session.NOT_IN_MEMORY;
    }
  }

  /** Shows the values of files in memory. */
  private static final class Slicing implements Taking<ByteBuffer> {
    static final Slicing SLICES = new Slicing();
    static final ByteBuffer UNREAD = ByteBuffer.allocate(0);

    @Override
    public ByteBuffer take(ByteBuffer buffer, int at, int length) {
      return buffer.slice(at, length);
    }

    @Override
    public ByteBuffer unread() {
      Faults.surface();
      return UNREAD;
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
    return get(key, Copying.FREELY);
  }

  /**
   * Like {@link #get(byte[])}, but requests memory from a budget if there is one.
   *
   * @throws MemoryBudgetExceededException if the budget has no room
   */
  public byte @Nullable [] get(byte[] key, @Nullable LongPredicate budget) throws IOException {
    return get(key, new Copying(budget));
  }

  private byte @Nullable [] get(byte[] key, Copying copying) throws IOException {
    MemoryGet open = memory;
    byte[] value = open == null ? Session.NOT_IN_MEMORY : get(open, key, copying);
    return value == Session.NOT_IN_MEMORY ? find(key, copying.budget, false) : value;
  }

  /**
   * The value of a key if everything it requires was read before and so is probably in memory;
   * otherwise {@link Session#NOT_IN_MEMORY}.
   */
  byte @Nullable [] getIfInMemory(byte[] key, @Nullable LongPredicate budget) throws IOException {
    MemoryGet open = memory;
    if (open != null && verifies) { // what was verified was read
      return get(open, key, new Copying(budget));
    }
    return engines.overlapping() != null ? Session.NOT_IN_MEMORY : find(key, budget, true);
  }

  private <T> @Nullable T get(MemoryGet open, byte[] key, Taking<T> taking) throws IOException {
    try {
      T found = open.get(key, taking);
      if (found == null) { // a value has the right key before it
        Faults.surface();
      }
      return found;
    } catch (RuntimeException | Error e) {
      if (memory == null && e instanceof RuntimeException) {
        throw new IllegalStateException("the database is closed", e); // and its memory released
      }
      throw sessions.expected(e);
    }
  }

  /** Looks up a key with a session; see {@link Session#find}. */
  private byte @Nullable [] find(byte[] key, @Nullable LongPredicate budget, boolean touchedOnly)
      throws IOException {
    return sessions.use(
        session -> {
          session.values.use(budget);
          try {
            return session.find(route.of(key), key, session.values, touchedOnly);
          } finally {
            session.values.use(null);
          }
        });
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
  @SuppressWarnings("ReferenceEquality") // identity is meant
  public <V, R> @Nullable R show(byte[] key, V visitor, Visit<V, R> visit) throws IOException {
    MemoryGet open = memory;
    ByteBuffer value = open == null ? Slicing.UNREAD : get(open, key, Slicing.SLICES);
    if (value == null) {
      return null;
    }
    if (value == Slicing.UNREAD) {
      return sessions.lend(
          session -> isPresent(key, session) ? visit.visit(visitor, session.shown.slice()) : null);
    }
    try {
      Session session = sessions.take(); // for closing to wait for
      try {
        R seen = visit.visit(visitor, value);
        Faults.surface();
        return seen;
      } finally {
        session.state = Session.FREE; // needs no call, which could overflow the stack
      }
    } catch (InternalError e) { // the visitor reads mapped memory
      throw sessions.unreadable(e);
    }
  }

  /** Finds a key's value, which is then in the values shown. */
  private boolean isPresent(byte[] key, Session session) throws IOException {
    try {
      return session.find(route.of(key), key, session.shown, false) != null;
    } catch (IndexOutOfBoundsException e) {
      throw sessions.unsound(e);
    }
  }

  /** An action on a locator. */
  @FunctionalInterface
  public interface Use {
    /** Runs the action. */
    void with(Locator locator) throws IOException;
  }

  /**
   * Runs an action on the locator of one of the databases, which stays open until the action ends,
   * and translates exceptions that damage causes into those that callers expect.
   *
   * @throws IllegalStateException if the database is closed
   */
  public void withLocator(int database, Use use) throws IOException {
    sessions.use(
        session -> {
          use.with(route.locator(database));
          return null;
        });
  }

  /** Whether the index maps the key to the given address; reads no record. */
  public boolean leadsTo(byte[] key, long address) throws IOException {
    return route.of(key) instanceof AddressedLocator addressed
        && Objects.requireNonNull(
            sessions.use(
                session ->
                    addressed.leadsTo(
                        addressed.start(key, session.signature), address, session.before)));
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
    return parts.get(database).dataFiles();
  }

  /** One of the databases. */
  OpenPart part(int database) {
    return parts.get(database);
  }

  /** The ranges of a part in the data files of one of the databases. */
  List<FileRange> ranges(int database, ScanParts wanted) throws IOException {
    DatabaseDirectory directory = parts.get(database).directory;
    List<FileEntry> files = directory.manifest().files(FileKind.DATA);
    if (wanted.isWhole()) {
      return FileRange.whole(files.size());
    }
    if (!(route.locator(database) instanceof AddressedLocator addressed)) {
      return wanted.ofPages(files);
    }
    Facts facts = directory.facts();
    long[] sample = sessions.use(session -> addressed.sample(facts.records(), session.before));
    return wanted.ofAddresses(files.size(), facts.addresses(), Objects.requireNonNull(sample));
  }

  private void requireKeys() throws IOException {
    if (opened.facts().approximate()) {
      throw new UnsupportedOperationException(
          opened.location() + " is approximate: it keeps no keys, so it cannot be scanned");
    }
    sessions.requireOpen();
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
    return scan(database, dataFiles(database), values);
  }

  /** Scans all records of data files of one of the databases, which the scanner closes. */
  public RecordScanner scan(int database, List<DataFile> files, boolean values) {
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
          opened.location()
              + " has no order of its keys: build it with --ordered"
              + " (BuildOptions.withOrderedKeys)");
    }
    return orders;
  }

  /**
   * The number of the database for a key.
   *
   * @throws WrongShardException if it belongs to a shard that was not opened
   */
  public int database(byte[] key) throws WrongShardException {
    return route.number(key);
  }

  /** Reports a key of the order that has no record where the order says. */
  CorruptDatabaseException withoutRecord(byte[] key) throws WrongShardException {
    DatabaseDirectory database = parts.get(route.number(key)).directory;
    return database
        .check(database.first(FileKind.ORDER))
        .corrupt(0, "keys that have records", "one that has none at its place");
  }

  /**
   * The values of many keys, in the order of the keys.
   *
   * @return a list with null for each absent key
   */
  public List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
    byte @Nullable [][] values = new byte[keys.size()][];
    getAll(new KeyBatch(keys.toArray(new byte[0][]), null, keys.size(), values));
    return Collections.unmodifiableList(Arrays.asList(values));
  }

  /**
   * Looks up all keys of a batch, overlapping reads or cache misses where that pays.
   *
   * @throws IOException if one of them cannot be read; no values are available then
   * @throws CorruptDatabaseException if bytes on the lookup path are damaged
   * @throws IllegalStateException if the database is closed, or the values take more than 2 GiB
   */
  public void getAll(KeyBatch batch) throws IOException {
    batch.begin();
    sessions.use(
        session -> {
          getAll(batch, session);
          return null;
        });
    batch.end(); // not before: a fault in mapped memory may come late
  }

  /** Looks up all keys of a new batch in a session. */
  void getAll(KeyBatch batch, Session session) throws IOException {
    if (showsMemory) {
      session.staged(route).run(batch);
    } else if (engines.overlapping() != null) {
      session.runQueued(batch, route, engines);
      Throwable failure = batch.failure();
      if (failure != null) {
        throw sessions.expected(failure);
      }
    } else {
      for (int i = 0; i < batch.size(); i++) {
        byte[] key = batch.key(i);
        batch.note(i, session.find(route.of(key), key, batch.destination(), false));
      }
    }
  }

  /**
   * Reads the values of records of a database at known places in a session, if they lie together,
   * or nothing is gained by reading them in another way.
   *
   * @return false if others are missing than those of keys without a record at their place
   */
  boolean readTogether(PlacedRecords records, int database, Session session) throws IOException {
    return route.locator(database) instanceof AddressedLocator addressed
        && addressed.records.readTogether(records, !overlaps(), session.last, session.scratch);
  }

  /** Whether batches overlap reads or cache misses. */
  boolean overlaps() {
    return showsMemory || engines.overlapping() != null;
  }

  /** Looks up a key asynchronously, requesting memory from a budget if there is one. */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key, @Nullable LongPredicate budget) {
    CompletableFuture<byte @Nullable []> future = new CompletableFuture<>();
    try {
      async()
          .get(
              key,
              (value, failure) -> {
                if (failure == null) {
                  future.complete(value);
                } else {
                  future.completeExceptionally(failure);
                }
              },
              budget);
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
          made = new AsyncLookups(this, sessions, route, engines);
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
    return HugePages.of(mapped, engines.loaders());
  }

  /** What was opened. */
  public DataSet opened() {
    return opened;
  }

  /** Whether only some shards of a set were opened, or one alone. */
  public boolean isShard() {
    return opened.databases().size() < opened.facts().shards();
  }

  /** Whether lookups read only mapped or loaded memory and make no read calls. */
  public boolean readsMemory() {
    return showsMemory;
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
    if (sessions.areInUseHere()) {
      throw new IllegalStateException(
          opened.location()
              + ": a value reader or a memory budget must not close the database that it serves");
    }
    AsyncLookups made;
    synchronized (asyncLock) {
      closing = true;
      made = async;
    }
    if (made != null) {
      made.close();
    }
    memory = null;
    if (sessions.close()) {
      IOException failure = new IOException("could not close " + opened.location());
      Throwable ofSession = sessions.failure();
      if (ofSession != null) {
        failure.addSuppressed(ofSession);
      }
      files.closeAfter(failure);
      if (failure.getSuppressed().length > 0) {
        throw failure;
      }
    }
  }
}
