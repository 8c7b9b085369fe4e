package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.data.CompressedReader;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PlainReader;
import tech.bsdb.data.RecordReader;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.hash.BucketHash;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.HugePages;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ReadCount;

/**
 * The single lookup path, shared by every reader: key, signature, slot, address, record; in
 * approximate mode key, signature, slot, value. Thread-safe.
 */
public final class Lookup implements Closeable {
  /** Marks a value that would have to be read; compared by identity. */
  static final byte[] NOT_IN_MEMORY = new byte[0];

  private static final Logger LOG = LoggerFactory.getLogger(Lookup.class);

  private final DatabaseDirectory directory;
  private final Path realPath;
  private final EngineChoice.Chosen engines;
  private final CheckedPages index;
  private final LookupPath path;
  private final ReadCount reads;
  private final HeldFiles scanned;
  private final byte @Nullable [] dictionary;
  private final Sessions sessions = new Sessions();
  private final List<Closeable> opened;
  private volatile @Nullable AsyncLookups async;
  private final AtomicBoolean faulted = new AtomicBoolean();
  private boolean closing;

  private Lookup(
      DatabaseDirectory directory,
      EngineChoice.Chosen engines,
      CheckedPages index,
      LookupPath path,
      ReadCount reads,
      HeldFiles scanned,
      byte @Nullable [] dictionary,
      List<Closeable> opened)
      throws IOException {
    this.directory = directory;
    this.realPath = directory.path().toRealPath();
    this.engines = engines;
    this.index = index;
    this.path = path;
    this.reads = reads;
    this.scanned = scanned;
    this.dictionary = dictionary;
    this.opened = opened;
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

  /** Opens a database from within {@code withOpened}, which has just read its directory. */
  static Lookup open(DatabaseDirectory directory, EngineChoice choice, boolean verify)
      throws IOException {
    directory.refuseShard();
    Facts facts = directory.facts();
    List<Closeable> opened = new ArrayList<>();
    ReadCount reads = new ReadCount();
    try {
      EngineChoice.Chosen chosen = choice.choose(directory);
      chosen.requireRoom(directory);
      FileEntry hashEntry = only(directory, FileKind.HASH);
      HashFunction hash =
          BucketHash.open(
              directory.file(hashEntry),
              hashEntry,
              facts.hashBuckets(),
              facts.records(),
              facts.checksumBits(),
              verify,
              chosen.loader());
      opened.add(hash);
      FileEntry indexEntry = only(directory, FileKind.INDEX);
      int width = facts.approximateWidth();
      int entryWidth = width > 0 ? ValueIndex.entryWidth(width) : AddressIndex.WIDTH;
      long pages = AddressIndex.pagesFor(facts.records(), entryWidth);
      if (pages != indexEntry.pages()) {
        throw directory
            .check(indexEntry)
            .corrupt(0, "an index of " + pages + " pages", indexEntry.pages() + "");
      }
      CheckedPages index = directory.pages(indexEntry, chosen.index(), verify, reads);
      opened.add(index);
      long seed = facts.hashSeed();
      HeldFiles scanned = HeldFiles.open(directory, directory.manifest().files(FileKind.DATA));
      opened.add(scanned);
      if (width > 0) {
        ValueIndex values = new ValueIndex(index, width, directory.check(indexEntry));
        LookupPath path = LookupPath.approximate(seed, hash, values);
        return new Lookup(directory, chosen, index, path, reads, scanned, null, opened);
      }
      byte[] dictionary = facts.compressed() ? directory.dictionary() : null;
      RecordReader records = records(directory, chosen.data(), dictionary, verify, reads);
      opened.add(records);
      LookupPath path = LookupPath.exact(seed, hash, new AddressIndex(index), records);
      return new Lookup(directory, chosen, index, path, reads, scanned, dictionary, opened);
    } catch (IOException | RuntimeException e) {
      closeAll(opened, e);
      throw e;
    }
  }

  private static FileEntry only(DatabaseDirectory directory, FileKind kind) throws IOException {
    List<FileEntry> entries = directory.manifest().files(kind);
    if (entries.size() != 1) {
      throw new CorruptDatabaseException(
          directory.path().resolve(Manifest.FILE_NAME),
          4096,
          "one " + kind.label() + " file",
          entries.size() + "");
    }
    return entries.get(0);
  }

  private static RecordReader records(
      DatabaseDirectory directory,
      Engine engine,
      byte @Nullable [] dictionary,
      boolean verify,
      ReadCount reads)
      throws IOException {
    boolean compressed = directory.facts().compressed();
    List<DataFile> files = directory.dataFiles(engine, verify, reads);
    try {
      return compressed
          ? new CompressedReader(
              files, directory.facts().addresses(), dictionary, directory.facts().zstdLongest())
          : new PlainReader(files, directory.facts().addresses());
    } catch (IllegalArgumentException e) {
      throw badDictionary(directory, files, e);
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
    // Does not use inSession, so that only the value is allocated.
    try {
      Session session = sessions.take();
      try {
        return value(key, session);
      } catch (IndexOutOfBoundsException e) {
        throw unsound(e);
      } finally {
        sessions.giveBack(session);
      }
    } catch (InternalError e) { // caught here because giving back may throw it
      throw unreadable(e);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private byte @Nullable [] value(byte[] key, Session session) throws IOException {
    long slot = path.slot(key, session.signature);
    return slot == HashFunction.ABSENT ? null : path.value(slot, key, session, session.values);
  }

  /**
   * Like {@link #get(byte[])}, but requests memory from a budget.
   *
   * @throws MemoryBudgetExceededException if the budget has no room
   */
  public byte @Nullable [] get(byte[] key, @Nullable LongPredicate budget) throws IOException {
    return inSession(session -> within(budget, session, () -> value(key, session)));
  }

  /** A step of a lookup. */
  @FunctionalInterface
  private interface Part {
    byte @Nullable [] run() throws IOException;
  }

  private static byte @Nullable [] within(
      @Nullable LongPredicate budget, Session session, Part part) throws IOException {
    session.values.use(budget);
    try {
      return part.run();
    } finally {
      session.values.use(null);
    }
  }

  /** An action on a session. */
  @FunctionalInterface
  interface Use<T> {
    /** Runs the action. */
    @Nullable T with(Session session) throws IOException;
  }

  /**
   * Runs an action with a session, which is always given back, and translates exceptions that
   * damage causes into those that callers expect.
   */
  <T> @Nullable T inSession(Use<T> use) throws IOException {
    try {
      Session session = sessions.take();
      try {
        return use.with(session);
      } catch (IndexOutOfBoundsException e) {
        throw unsound(e);
      } finally {
        sessions.giveBack(session);
      }
    } catch (InternalError e) { // caught here because giving back may throw it
      throw unreadable(e);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /**
   * The value of a key if everything it requires was read before and so is probably in memory;
   * otherwise {@link #NOT_IN_MEMORY}.
   */
  byte @Nullable [] getIfInMemory(byte[] key, @Nullable LongPredicate budget) throws IOException {
    if (engines.overlapping() != null) {
      return NOT_IN_MEMORY;
    }
    return inSession(
        session -> {
          long slot = path.slot(key, session.signature);
          return slot == HashFunction.ABSENT
              ? null
              : within(budget, session, () -> path.valueIfTouched(slot, key, session));
        });
  }

  /** Finds the slot of a request's key; reads only the hash function. */
  void findSlot(AsyncLookups.Request request) throws IOException {
    inSession(
        session -> {
          request.slot = path.slot(request.key, session.signature);
          return null;
        });
  }

  /** Translates a failure into the exception that callers expect. */
  Throwable explained(Throwable failure) {
    if (failure instanceof IndexOutOfBoundsException e) {
      return unsound(e);
    }
    return failure instanceof InternalError e ? unreadable(e) : failure;
  }

  /** The steps of a lookup, for callers that run them separately while this lookup is open. */
  LookupPath path() {
    return path;
  }

  /** The engines in use. */
  EngineChoice.Chosen engines() {
    return engines;
  }

  /** Looks up all keys of a batch, overlapping reads or cache misses where that pays. */
  void getAll(KeyBatch batch) throws IOException {
    inSession(
        session -> {
          if (engines.showMemory()) {
            staged(session).run(batch, session);
          } else if (engines.overlapping() != null) {
            runQueued(batch, session);
          } else {
            runSingly(batch, session);
          }
          return null;
        });
  }

  private void runSingly(KeyBatch batch, Session session) throws IOException {
    for (int i = 0; i < batch.size(); i++) {
      byte[] key = batch.key(i);
      long slot = path.slot(key, session.signature);
      batch.note(
          i,
          slot == HashFunction.ABSENT ? null : path.value(slot, key, session, batch.destination()));
    }
  }

  private StagedLookups staged(Session session) {
    StagedLookups staged = session.staged;
    if (staged == null) {
      staged = new StagedLookups(path);
      session.staged = staged;
    }
    return staged;
  }

  private void runQueued(KeyBatch batch, Session session) throws IOException {
    BatchLookups queued = session.queued;
    if (queued == null) {
      queued =
          new BatchLookups(
              path, engines.queue(false), engines.indexQueued(), engines.recordsQueued());
      session.queued = queued;
    }
    boolean sound = false;
    try {
      queued.run(batch, session);
      sound = true;
    } finally {
      if (!sound) {
        session.queued = null;
        queued.close();
      }
    }
  }

  private CorruptDatabaseException unsound(IndexOutOfBoundsException cause) {
    return new CorruptDatabaseException(directory.path(), 0, "a sound database", cause.toString());
  }

  /**
   * Translates the error that the virtual machine throws for an unreadable mapped page into an
   * exception that callers expect.
   */
  private IOException unreadable(InternalError cause) {
    sessions.noteFault();
    if (!faulted.getAndSet(true)) {
      LOG.error(
          "{}: a mapped file cannot be read: it was cut short while open, or the device failed."
              + " Lookups that meet the fault fail; open the database again once its files are"
              + " sound. Files that a fault left in use stay open until the process ends",
          directory.path(),
          cause);
    }
    return new IOException(
        directory.path()
            + ": a mapped file cannot be read; it was cut short while open, or the device failed",
        cause);
  }

  /** Whether the index maps the key to the given address; reads no record. */
  public boolean leadsTo(byte[] key, long address) throws IOException {
    Boolean leads =
        inSession(
            session -> {
              long slot = path.slot(key, session.signature);
              AddressIndex addresses = path.addresses();
              if (slot == HashFunction.ABSENT || addresses == null) {
                return false;
              }
              addresses.locate(slot, session.index);
              session.index.read();
              return addresses.address(slot, session.index) == address;
            });
    return Boolean.TRUE.equals(leads);
  }

  /** Creates a batch for records of a {@link #scan scan} of this database, which must be exact. */
  SlotBatch slotBatch() {
    AddressIndex addresses = path.addresses();
    if (addresses == null) {
      throw new UnsupportedOperationException(directory.path() + " is approximate");
    }
    return new SlotBatch(path, addresses);
  }

  /** Finds the slots of a batch; reads only the hash function. */
  void findSlots(SlotBatch batch) throws IOException {
    inSession(
        session -> {
          batch.findSlots();
          return null;
        });
  }

  /** Counts the records of a batch whose keys the index maps to their addresses. */
  int countLeading(SlotBatch batch) throws IOException {
    Integer leading =
        inSession(
            session -> {
              batch.findSlots();
              return batch.countLeading(session);
            });
    return leading == null ? 0 : leading;
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
  RecordScanner scan(boolean values) throws IOException {
    if (path.isApproximate()) {
      throw new UnsupportedOperationException(
          directory.path() + " is approximate: it keeps no keys, so it cannot be scanned");
    }
    sessions.giveBack(sessions.take());
    List<DataFile> files = scanned.dataFiles(reads);
    try {
      return new RecordScanner(
          files, directory.facts().layout(), directory.facts().addresses(), dictionary, values);
    } catch (IllegalArgumentException e) {
      throw badDictionary(directory, files, e);
    }
  }

  /** Closes the data files, which cannot be read without a valid dictionary. */
  private static IOException badDictionary(
      DatabaseDirectory directory, List<DataFile> files, RuntimeException cause)
      throws IOException {
    for (DataFile file : files) {
      file.close();
    }
    List<FileEntry> entries = directory.manifest().files(FileKind.DICTIONARY);
    Path path = entries.isEmpty() ? directory.path() : directory.file(entries.get(0));
    return new CorruptDatabaseException(
        path, Page.SIZE, "a ZSTD dictionary", String.valueOf(cause.getMessage()));
  }

  /** Touches and verifies every page of the index once, so that later reads find it in memory. */
  public void loadIndex() throws IOException {
    inSession(
        session -> {
          for (long page = 1; page < index.pages() - 1; page++) {
            index.read(page, 1, session.index.window());
          }
          return null;
        });
  }

  /** Creates a batch of keys, which one thread may use repeatedly. */
  public KeyBatch batch() {
    return new KeyBatch(this);
  }

  /**
   * The values of many keys, in the order of the keys.
   *
   * @return a list with null for each absent key
   */
  public List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
    byte @Nullable [][] values = new byte[keys.size()][];
    new KeyBatch(this, keys.toArray(new byte[0][]), values).get();
    return Collections.unmodifiableList(Arrays.asList(values));
  }

  /** Looks up a key asynchronously. */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key) {
    return getAsync(key, null);
  }

  /** Looks up a key asynchronously, requesting memory from a budget if there is one. */
  public CompletableFuture<byte @Nullable []> getAsync(byte[] key, @Nullable LongPredicate budget) {
    CompletableFuture<byte @Nullable []> future = new CompletableFuture<>();
    AsyncLookups.Answer answer =
        new AsyncLookups.Answer() {
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

  private AsyncLookups async() throws IOException {
    AsyncLookups made = async;
    if (made == null) {
      synchronized (opened) {
        made = async;
        if (made == null) {
          if (closing) {
            throw new IllegalStateException("the database is closed");
          }
          made = new AsyncLookups(this);
          async = made;
        }
      }
    }
    return made;
  }

  /** Whether the data files contain records that were dropped as duplicates. */
  boolean holdsDropped() {
    return directory.facts().duplicatesDropped() > 0;
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
    return HugePages.of(mapped, loaded);
  }

  /** The directory of the open database. */
  public DatabaseDirectory directory() {
    return directory;
  }

  /** Whether lookups read only mapped or loaded memory and make no read calls. */
  public boolean readsMemory() {
    return engines.index().showsMemory() && (path.isApproximate() || engines.data().showsMemory());
  }

  /** The engine in use and the reason for choosing it. */
  public String engine() {
    return engines.reason();
  }

  /** Waits for running lookups and releases everything; a second call does nothing. */
  @Override
  public void close() throws IOException {
    AsyncLookups made;
    synchronized (opened) {
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
      closeAll(opened, failure);
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
