package tech.bsdb.lookup;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.data.PlacedRecords;
import tech.bsdb.data.RecordBytes;
import tech.bsdb.data.Taking;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.io.Faults;
import tech.bsdb.lookup.AsyncLookups.AsyncRequest;

/**
 * Lookups on the calling thread, of single keys and of batches. Single keys in memory go to a
 * {@link MemoryGet}. Every other lookup takes a session and runs the driver that suits the engines.
 * All translate what damage throws into the exceptions that callers expect. Thread-safe.
 */
final class SyncLookups {
  private static final Logger LOG = LoggerFactory.getLogger(SyncLookups.class);

  static {
    // The first stack that overflows leaves no room to load what handlers catch.
    Objects.requireNonNull(StackOverflowError.class);
    Objects.requireNonNull(InternalError.class);
  }

  private final Route route;
  private final EngineChoice.Chosen engines;
  private final Path path;
  private final SingleLookups single;
  private final boolean showMemory;
  private final boolean verifies;
  private final Sessions sessions = new Sessions();
  private final Visits visits = new Visits();
  private final AtomicBoolean faulted = new AtomicBoolean();
  private final Copying copying = new Copying(null, true);
  private final Slicing slicing = new Slicing();

  /**
   * The lookups in each database, if all files are in memory and the layout allows it; otherwise,
   * and once the files are closed, null.
   */
  private volatile MemoryGet @Nullable [] memory;

  /**
   * Creates lookups.
   *
   * @param engines the engines that opened the files of the locators
   * @param path the directory of the database, for messages
   * @param verifies whether each page is verified at its first touch
   */
  SyncLookups(Route route, EngineChoice.Chosen engines, Path path, boolean verifies) {
    this.route = route;
    this.verifies = verifies;
    Locator any = route.any();
    this.engines = engines;
    this.path = path;
    boolean shown = true;
    for (int read = 0; read < any.reads(); read++) {
      shown &= engines.showsMemory(any.file(read));
    }
    this.showMemory = shown;
    this.memory = shown ? inMemory(route) : null;
    this.single = new SingleLookups(route);
  }

  private static MemoryGet @Nullable [] inMemory(Route route) {
    MemoryGet[] all = new MemoryGet[route.databases()];
    for (int i = 0; i < all.length; i++) {
      MemoryGet one = route.locator(i).inMemory();
      if (one == null) {
        return null;
      }
      all[i] = one;
    }
    return all;
  }

  /** Whether all reads show mapped or loaded memory. */
  boolean readsMemory() {
    return showMemory;
  }

  /** Whether batches overlap reads or cache misses. */
  boolean overlaps() {
    return showMemory || engines.overlapping() != null;
  }

  /** Fails if the database is closed. */
  void requireOpen() {
    sessions.requireOpen();
  }

  /** Copies the values of files in memory. */
  private final class Copying implements Taking<byte[]> {
    private final @Nullable LongPredicate budget;
    private final boolean waits;

    /** Copies within a budget; {@code waits} says whether to read what was never read before. */
    Copying(@Nullable LongPredicate budget, boolean waits) {
      this.budget = budget;
      this.waits = waits;
    }

    @Override
    public byte[] take(ByteBuffer buffer, int at, int length) throws IOException {
      if (budget != null && !budget.test(length)) {
        throw new MemoryBudgetExceededException(length);
      }
      return RecordBytes.copy(buffer, at, length);
    }

    @Override
    public byte @Nullable [] otherwise(byte[] key) throws IOException {
      Faults.surface();
      return waits ? read(key, budget) : SingleLookups.NOT_IN_MEMORY;
    }
  }

  /** Shows the values of files in memory. */
  private static final class Slicing implements Taking<ByteBuffer> {
    /** Instead of a slice: the value must be read. */
    static final ByteBuffer UNREAD = ByteBuffer.allocate(0);

    @Override
    public ByteBuffer take(ByteBuffer buffer, int at, int length) {
      return buffer.slice(at, length);
    }

    @Override
    public ByteBuffer otherwise(byte[] key) {
      Faults.surface();
      return UNREAD;
    }
  }

  /** Looks up a key; see {@link Lookup#get(byte[])}. */
  byte @Nullable [] get(byte[] key) throws IOException {
    MemoryGet[] open = memory;
    return open == null ? read(key, null) : get(open, key, copying);
  }

  /** Looks up a key, requesting memory from a budget if there is one. */
  byte @Nullable [] get(byte[] key, @Nullable LongPredicate budget) throws IOException {
    MemoryGet[] open = memory;
    return open == null ? read(key, budget) : get(open, key, new Copying(budget, true));
  }

  /**
   * The value of a key if everything it requires was read before and so is probably in memory;
   * otherwise {@link SingleLookups#NOT_IN_MEMORY}.
   */
  byte @Nullable [] getIfInMemory(byte[] key, @Nullable LongPredicate budget) throws IOException {
    MemoryGet[] open = memory;
    if (open != null && verifies) { // what was verified was read
      return get(open, key, new Copying(budget, false));
    }
    if (engines.overlapping() != null) {
      return SingleLookups.NOT_IN_MEMORY;
    }
    return inSession(
        session -> within(budget, session.probe, probe -> single.getIfTouched(key, probe)));
  }

  private <T> @Nullable T get(MemoryGet[] open, byte[] key, Taking<T> taking) throws IOException {
    try {
      T found = open[route.number(key)].get(key, taking);
      if (found == null) { // a value has the right key before it
        Faults.surface();
      }
      return found;
    } catch (RuntimeException | Error e) {
      if (memory == null && e instanceof RuntimeException) {
        throw new IllegalStateException("the database is closed", e); // and its memory released
      }
      throw expected(e);
    }
  }

  /** Looks up a key with a session. */
  private byte @Nullable [] read(byte[] key, @Nullable LongPredicate budget) throws IOException {
    return inSession(
        session -> within(budget, session.probe, probe -> single.get(key, probe, probe.values)));
  }

  /** Shows a key's value where it lies; see {@link Lookup#show}. */
  @SuppressWarnings("ReferenceEquality") // identity is meant
  <V, R> @Nullable R show(byte[] key, V visitor, Lookup.Visit<V, R> visit) throws IOException {
    MemoryGet[] open = memory;
    ByteBuffer value = open == null ? Slicing.UNREAD : get(open, key, slicing);
    if (value == null) {
      return null;
    }
    if (value == Slicing.UNREAD) {
      return lending(
          session ->
              isPresent(key, session.probe)
                  ? visited(session.probe.shown.slice(), visitor, visit)
                  : null);
    }
    try {
      return visited(value, visitor, visit);
    } catch (InternalError e) { // the visitor reads mapped memory
      throw unreadable(e);
    }
  }

  /** Finds a key's value, which is then in the values shown. */
  private boolean isPresent(byte[] key, Probe probe) throws IOException {
    try {
      return single.get(key, probe, probe.shown) != null;
    } catch (IndexOutOfBoundsException e) {
      throw unsound(e);
    }
  }

  private <V, R> @Nullable R visited(ByteBuffer value, V visitor, Lookup.Visit<V, R> visit)
      throws IOException {
    Visits.Visit begun = visits.begin();
    try {
      requireOpen();
      R seen = visit.visit(visitor, value);
      Faults.surface();
      return seen;
    } finally {
      try {
        VarHandle.releaseFence();
      } finally {
        begun.thread = 0; // needs no call, which could overflow the stack
      }
    }
  }

  /**
   * Whether the calling thread is showing a value to a visitor. After a fault, which may have come
   * too late to end a visit, the answer is no.
   */
  boolean isShowing() {
    return !faulted.get() && visits.isIn(Thread.currentThread().getId());
  }

  /**
   * Refuses further lookups and waits for those that use a session and for visitors. A lookup under
   * way in memory may fail once the caller closes the files.
   */
  Sessions.Closing close() {
    memory = null;
    return sessions.close(visits::isAny);
  }

  /** The failure of {@link #close} to close a session, or null. */
  @Nullable IOException closingFailure() {
    return sessions.failure();
  }

  /** A lookup with a probe. */
  @FunctionalInterface
  private interface Step {
    byte @Nullable [] with(Probe probe) throws IOException;
  }

  private static byte @Nullable [] within(@Nullable LongPredicate budget, Probe probe, Step step)
      throws IOException {
    probe.values.use(budget);
    try {
      return step.with(probe);
    } finally {
      probe.values.use(null);
    }
  }

  /** Finds the place of the first read of a request's key; reads only the hash function. */
  void start(AsyncRequest request) throws IOException {
    inSession(
        session -> {
          Locator locator = route.of(request.key);
          request.locator = locator;
          request.place = locator.start(request.key, session.probe.signature);
          return null;
        });
  }

  /** Looks up all keys of a batch, overlapping reads or cache misses where that pays. */
  void getAll(KeyBatch batch) throws IOException {
    inSession(
        session -> {
          getAll(batch, session);
          return null;
        });
  }

  /** Looks up all keys of a batch in a session. */
  void getAll(KeyBatch batch, Session session) throws IOException {
    if (showMemory) {
      staged(session).run(batch, session.probe);
    } else if (engines.overlapping() != null) {
      runQueued(batch, session);
    } else {
      for (int i = 0; i < batch.size(); i++) {
        batch.note(i, single.get(batch.key(i), session.probe, batch.destination()));
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
    Probe probe = session.probe;
    return route.locator(database) instanceof AddressedLocator addressed
        && addressed.readTogether(records, !overlaps(), probe.last, probe.scratch);
  }

  private Staged staged(Session session) {
    Staged staged = session.staged;
    if (staged == null) {
      staged = new Staged(route);
      session.staged = staged;
    }
    return staged;
  }

  private void runQueued(KeyBatch batch, Session session) throws IOException {
    BatchLookups queued = session.queued;
    if (queued == null) {
      queued = new BatchLookups(route, engines);
      session.queued = queued;
    }
    try {
      queued.run(batch, session.probe);
    } catch (IOException | RuntimeException | InternalError e) {
      session.queued = null;
      queued.close();
      throw e;
    } // after an error the session is dropped, and closed with its queue later
  }

  /** An action on a session. */
  @FunctionalInterface
  interface Use<T> {
    /** Runs the action. */
    @Nullable T with(Session session) throws IOException;
  }

  /**
   * Runs an action with a session, and translates exceptions that damage causes into those that
   * callers expect.
   */
  <T> @Nullable T inSession(Use<T> use) throws IOException {
    return lending(
        session -> {
          try {
            return use.with(session);
          } catch (IndexOutOfBoundsException e) {
            throw unsound(e);
          }
        });
  }

  /**
   * Lends a session to an action, which is free afterwards unless an error left it in an unknown
   * state.
   */
  @SuppressWarnings("Finally") // throws what it caught
  private <T> @Nullable T lending(Use<T> use) throws IOException {
    try {
      Session session = sessions.take();
      int after = Session.BROKEN;
      try {
        T result = use.with(session);
        Faults.surface();
        after = sessions.trim(session);
        return result;
      } catch (IOException | RuntimeException | InternalError e) {
        after = sessions.trim(session);
        throw e;
      } finally {
        session.state = after; // needs no call, which could overflow the stack
      }
    } catch (InternalError | AssertionError e) { // here because a fault may come late
      throw expected(e);
    }
  }

  /** Returns the exception that callers expect, or throws the failure if it is as they expect. */
  private IOException expected(Throwable failure) {
    Throwable explained;
    try {
      Faults.surface();
      explained = explained(failure);
    } catch (InternalError fault) { // which the failure followed from
      explained = unreadable(fault);
    }
    if (explained instanceof IOException e) {
      return e;
    }
    if (explained instanceof RuntimeException e) {
      throw e;
    }
    throw (Error) explained;
  }

  /**
   * Translates a failure into the exception that callers expect. zstd-jni wraps the fault that the
   * virtual machine reports during a call of native code.
   */
  Throwable explained(Throwable failure) {
    if (failure instanceof IndexOutOfBoundsException e) {
      return unsound(e);
    }
    if (failure instanceof AssertionError e && e.getCause() instanceof InternalError fault) {
      return unreadable(fault);
    }
    return failure instanceof InternalError e ? unreadable(e) : failure;
  }

  private CorruptDatabaseException unsound(IndexOutOfBoundsException cause) {
    return new CorruptDatabaseException(path, 0, "a sound database", cause.toString());
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
          path,
          cause);
    }
    return new IOException(
        path + ": a mapped file cannot be read; it was cut short while open, or the device failed",
        cause);
  }
}
