package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.Faults;

/**
 * Lends sessions to lookups and to readers of values, and closes only when all are back, so that
 * nothing that a session uses and nothing that a reader sees is unmapped or freed. Lookups by a
 * {@link MemoryGet} take none. Translates what damage throws into the exceptions that callers
 * expect. Thread-safe.
 *
 * <p>A session is taken by a compare-and-set of its {@link Session#state} and given back by a store
 * to it. A stack may overflow at any call, so nothing is called between the first and the return of
 * {@link #take}, nor has the end of a lookup to call anything.
 *
 * <p>A fault in a mapped page reaches Java as an {@link InternalError} with a short delay, possibly
 * while the next session is being taken, and that session is lost. So once a fault has been met,
 * {@link #close} waits only for a limited time.
 */
final class Sessions {
  private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);

  static {
    // The first stack that overflows leaves no room to load what handlers catch.
    Objects.requireNonNull(StackOverflowError.class);
    Objects.requireNonNull(InternalError.class);
  }

  /** How long to wait for a session that a fault may have lost. */
  private static final long LOST_NANOS = 2_000_000_000L;

  private static final int SPINS = 1000;
  private static final long PAUSE_NANOS = 1_000_000;

  private final Path path;
  private final String location;

  /** All sessions, at their numbers. An array does not change; a larger one replaces it. */
  private volatile Session[] all = {};

  private volatile boolean closed;
  private final AtomicBoolean faulted = new AtomicBoolean();
  private volatile @Nullable Throwable failure;

  /**
   * Creates sessions.
   *
   * @param path the directory of the database, for messages
   */
  Sessions(Path path) {
    this(path, path.toString());
  }

  /**
   * Creates sessions.
   *
   * @param path the directory of the database
   * @param location where it lies, for messages
   */
  Sessions(Path path, String location) {
    this.path = path;
    this.location = location;
  }

  /**
   * A session for the calling thread, which sets its {@link Session#state} when it is done.
   *
   * @throws IllegalStateException if this is closed
   */
  Session take() {
    while (true) {
      requireOpen();
      Session[] sessions = all;
      long thread = Thread.currentThread().getId();
      int at = (int) thread & Session.OWN - 1; // its own, unless another thread has the same
      for (int i = 0; i < sessions.length; i++) {
        Session session = sessions[at < sessions.length ? at : at % sessions.length];
        if (session.tryLend(thread)) {
          if (closed) {
            session.state = Session.FREE;
            throw new IllegalStateException("the database is closed");
          }
          return session;
        }
        at = i == 0 ? (int) (thread * 0x9E3779B9L >>> 8 & 0xFFFFFF) : at + 1;
      }
      add(sessions);
    }
  }

  /** Fails if this is closed. */
  void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the database is closed");
    }
  }

  /** Adds sessions, an eighth of those there are, and replaces the broken ones. */
  private synchronized void add(Session[] known) {
    if (closed || all != known) {
      return;
    }
    Session[] more = Arrays.copyOf(known, known.length + 1 + (known.length >> 3));
    for (int i = 0; i < more.length; i++) {
      if (i >= known.length) {
        more[i] = new Session(i);
      } else if (more[i].state == Session.BROKEN && end(more[i])) {
        more[i] = new Session(i);
      }
    }
    all = more;
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
  <T> @Nullable T use(Use<T> use) throws IOException {
    return lend(
        session -> {
          try {
            return use.with(session);
          } catch (IndexOutOfBoundsException e) {
            throw unsound(e);
          }
        });
  }

  /**
   * Lends a session to an action, which may run code of users: their exceptions stay as they are.
   * The session is free afterwards unless an error left it in an unknown state.
   */
  @SuppressWarnings("Finally") // throws what it caught
  <T> @Nullable T lend(Use<T> use) throws IOException {
    try {
      Session session = take();
      long after = Session.BROKEN;
      try {
        T result = use.with(session);
        Faults.surface();
        after = trim(session);
        return result;
      } catch (IOException | RuntimeException | InternalError e) {
        after = trim(session);
        throw e;
      } finally {
        session.state = after; // needs no call, which could overflow the stack
      }
    } catch (InternalError | AssertionError e) { // here because a fault may come late
      throw expected(e);
    }
  }

  /**
   * Trims a session at the end of its use.
   *
   * @return its state from then on: broken if a resource could not be closed
   */
  private long trim(Session session) {
    try {
      session.trim();
      return Session.FREE;
    } catch (IOException | RuntimeException e) {
      failure = e;
      return Session.BROKEN;
    }
  }

  /** Returns the exception that callers expect, or throws the failure if it is as they expect. */
  IOException expected(Throwable failure) {
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

  /** Translates what a lookup in unsound bytes throws. */
  CorruptDatabaseException unsound(IndexOutOfBoundsException cause) {
    return new CorruptDatabaseException(path, 0, "a sound database", cause.toString()).at(location);
  }

  /**
   * Translates the error that the virtual machine throws for an unreadable mapped page into an
   * exception that callers expect. From then on, a session may never come back.
   */
  IOException unreadable(InternalError cause) {
    if (!faulted.getAndSet(true)) {
      LOG.error(
          "{}: a mapped file cannot be read: it was cut short while open, or the device failed."
              + " Lookups that meet the fault fail; open the database again once its files are"
              + " sound. Files that a fault left in use stay open until the process ends",
          location,
          cause);
    }
    return new IOException(
        location
            + ": a mapped file cannot be read; it was cut short while open, or the device failed",
        cause);
  }

  /**
   * Whether the calling thread has a session, as a reader of a value does. After a fault, which may
   * have come too late to end a use, the answer is no.
   */
  boolean areInUseHere() {
    long thread = Thread.currentThread().getId();
    return !faulted.get() && isAny(session -> session.isLentTo(thread));
  }

  private boolean isAny(Predicate<Session> wanted) {
    for (Session session : all) {
      if (wanted.test(session)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Waits until all sessions are back and closes them; later calls of {@link #take} fail.
   *
   * @return false if another call has closed them or is closing them
   * @throws IOException if a fault lost a session, or its lookup is still running: mapped files
   *     must stay mapped
   */
  boolean close() throws IOException {
    synchronized (this) {
      if (closed) {
        return false;
      }
      closed = true;
    }
    if (!awaitAll()) {
      throw new IOException(
          location
              + ": closed after a mapped file failed; its files stay open until the process ends");
    }
    for (Session session : all) {
      if (!end(session)) {
        failure = new IOException("the stack is too short to close a session");
      }
    }
    all = new Session[0]; // with windows, which refer to files' memory
    return true;
  }

  /**
   * Waits until all sessions are back, without limit unless a fault was met.
   *
   * @return whether they are
   */
  private boolean awaitAll() {
    boolean interrupted = false;
    long faultNanos = 0;
    boolean complete = true;
    for (int pauses = 0; complete && isAny(Session::isLent); pauses++) {
      if (pauses < SPINS) {
        Thread.onSpinWait();
        continue;
      }
      interrupted |= Thread.interrupted();
      LockSupport.parkNanos(PAUSE_NANOS);
      faultNanos = faulted.get() && faultNanos == 0 ? System.nanoTime() : faultNanos;
      complete = faultNanos == 0 || System.nanoTime() - faultNanos < LOST_NANOS;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return complete;
  }

  /** Closes a session; returns false if the stack is too short for that, which can be repeated. */
  private boolean end(Session session) {
    try {
      session.close();
    } catch (StackOverflowError e) {
      return false;
    } catch (IOException | RuntimeException | Error e) { // the other sessions must still be closed
      failure = e;
    }
    return true;
  }

  /** The failure to close something of a session, or null. */
  @Nullable Throwable failure() {
    return failure;
  }
}
