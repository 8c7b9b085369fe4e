package tech.bsdb.lookup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.data.PlacedRecords;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.Extent;
import tech.bsdb.lookup.AsyncLookups.AsyncRequest;

/**
 * Lookups on the calling thread, of single keys and of batches. Each takes a session, runs the
 * driver that suits the engines, and translates what damage throws into the exceptions that callers
 * expect. Thread-safe.
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
  private final Sessions sessions;
  private final SingleLookups single;
  private final boolean showMemory;
  private final AtomicBoolean faulted = new AtomicBoolean();

  /**
   * Creates lookups.
   *
   * @param engines the engines that opened the files of the locators
   * @param path the directory of the database, for messages
   * @param sessions lends the sessions
   */
  SyncLookups(Route route, EngineChoice.Chosen engines, Path path, Sessions sessions) {
    this.route = route;
    Locator any = route.any();
    this.engines = engines;
    this.path = path;
    this.sessions = sessions;
    boolean shown = true;
    for (int read = 0; read < any.reads(); read++) {
      shown &= engines.showsMemory(any.file(read));
    }
    this.showMemory = shown;
    this.single = new SingleLookups(route, shown);
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

  /** Looks up a key; see {@link Lookup#get(byte[])}. */
  @SuppressWarnings("Finally") // throws what it caught
  byte @Nullable [] get(byte[] key) throws IOException {
    // Does not use inSession, so that only the value is allocated. The code that drops a session is
    // repeated in each method: on a full stack, a call to a helper would fail, too.
    try {
      Session session = sessions.take();
      boolean intact = false;
      try {
        byte[] value = single.get(key, session.probe, session.probe.values);
        intact = true;
        return value;
      } catch (IndexOutOfBoundsException e) {
        intact = true;
        throw unsound(e);
      } catch (IOException | RuntimeException | InternalError e) {
        intact = true;
        throw e;
      } finally {
        if (intact) {
          try {
            sessions.giveBack(session);
          } catch (StackOverflowError e) {
            session.dropped = true;
            throw e;
          }
        } else {
          session.dropped = true;
        }
      }
    } catch (InternalError e) { // caught here because giving back may throw it
      throw unreadable(e);
    } catch (AssertionError e) {
      throw unreadable(faultIn(e));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Shows a key's value where it lies; see {@link Lookup#show}. */
  @SuppressWarnings("Finally") // throws what it caught
  <V, R> @Nullable R show(byte[] key, V visitor, Lookup.Visit<V, R> visit) throws IOException {
    try {
      Session session = take();
      boolean intact = false;
      try {
        boolean present = isPresent(key, session.probe);
        intact = true;
        return present ? visited(key, session, visitor, visit) : null;
      } catch (IOException | RuntimeException | InternalError e) {
        intact = true;
        throw e;
      } finally {
        if (intact) {
          try {
            session.endShowing(); // again, in case that a late fault prevented it
            giveBack(session);
          } catch (StackOverflowError e) {
            session.dropped = true;
            throw e;
          }
        } else {
          session.dropped = true;
        }
      }
    } catch (InternalError e) { // also while the visitor reads mapped memory
      throw unreadable(e);
    } catch (AssertionError e) {
      throw unreadable(faultIn(e));
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

  private <V, R> @Nullable R visited(
      byte[] key, Session session, V visitor, Lookup.Visit<V, R> visit) throws IOException {
    Probe probe = session.probe;
    if (probe.shown.inWindow()) {
      single.lastOf(key, probe).lend();
    }
    session.startShowing();
    try {
      return visit.visit(visitor, probe.shown.slice());
    } finally {
      session.endShowing();
    }
  }

  /* Visitors may throw an UncheckedIOException of their own, so those of sessions are translated where they arise. */

  private Session take() throws IOException {
    try {
      return sessions.take();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void giveBack(Session session) throws IOException {
    try {
      sessions.giveBack(session);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Looks up a key, requesting memory from a budget if there is one. */
  byte @Nullable [] get(byte[] key, @Nullable LongPredicate budget) throws IOException {
    return inSession(
        session -> within(budget, session.probe, probe -> single.get(key, probe, probe.values)));
  }

  /**
   * The value of a key if everything it requires was read before and so is probably in memory;
   * otherwise {@link SingleLookups#NOT_IN_MEMORY}.
   */
  byte @Nullable [] getIfInMemory(byte[] key, @Nullable LongPredicate budget) throws IOException {
    if (engines.overlapping() != null) {
      return SingleLookups.NOT_IN_MEMORY;
    }
    return inSession(
        session -> within(budget, session.probe, probe -> single.getIfTouched(key, probe)));
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
    Extent extent = showMemory ? session.probe.last(database) : session.probe.last;
    return route.locator(database) instanceof AddressedLocator addressed
        && addressed.readTogether(records, !overlaps(), extent, session.probe.scratch);
  }

  private StagedLookups staged(Session session) {
    StagedLookups staged = session.staged;
    if (staged == null) {
      staged = new StagedLookups(route);
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
   * Runs an action with a session, which is given back unless an error left it in an unknown state,
   * and translates exceptions that damage causes into those that callers expect.
   */
  @SuppressWarnings("Finally") // throws what it caught
  <T> @Nullable T inSession(Use<T> use) throws IOException {
    try {
      Session session = sessions.take();
      boolean intact = false;
      try {
        T result = use.with(session);
        intact = true;
        return result;
      } catch (IndexOutOfBoundsException e) {
        intact = true;
        throw unsound(e);
      } catch (IOException | RuntimeException | InternalError e) {
        intact = true;
        throw e;
      } finally {
        if (intact) {
          try {
            sessions.giveBack(session);
          } catch (StackOverflowError e) {
            session.dropped = true;
            throw e;
          }
        } else {
          session.dropped = true;
        }
      }
    } catch (InternalError e) { // caught here because giving back may throw it
      throw unreadable(e);
    } catch (AssertionError e) {
      throw unreadable(faultIn(e));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Translates a failure into the exception that callers expect. */
  Throwable explained(Throwable failure) {
    if (failure instanceof IndexOutOfBoundsException e) {
      return unsound(e);
    }
    if (failure instanceof AssertionError e && e.getCause() instanceof InternalError fault) {
      return unreadable(fault);
    }
    return failure instanceof InternalError e ? unreadable(e) : failure;
  }

  /**
   * The fault that an error wraps: zstd-jni does so if the virtual machine reports the fault during
   * a call of native code. Any other error is thrown.
   */
  private static InternalError faultIn(AssertionError error) {
    if (error.getCause() instanceof InternalError fault) {
      return fault;
    }
    throw error;
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
