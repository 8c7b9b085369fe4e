package tech.bsdb.lookup;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lends sessions to lookups and closes only when all are back, so that nothing that a session uses
 * is unmapped or freed. Lookups by a {@link MemoryGet} take none. Thread-safe.
 *
 * <p>A session is taken by a compare-and-set of its {@link Session#state} and given back by a store
 * to it. A stack may overflow at any call, so nothing is called between the first and the return of
 * {@link #take}, nor has the end of a lookup to call anything.
 *
 * <p>A fault in a mapped page reaches Java as an {@link InternalError} with a short delay, possibly
 * while the next session is being taken, and that session is lost. So once a fault has been {@link
 * #noteFault noted}, {@link #close} waits only for a limited time.
 */
final class Sessions {
  /** How long to wait for a session that a fault may have lost. */
  private static final long LOST_NANOS = 2_000_000_000L;

  private static final int SPINS = 1000;

  /** The outcome of {@link #close}. */
  enum Closing {
    /** All sessions are back; nothing is in use. */
    DONE,
    /** Another call has closed it or is closing it. */
    BEFORE,
    /** A fault lost a session, or its lookup is still running: mapped files must stay mapped. */
    SESSION_LOST
  }

  /** All sessions, at their numbers. An array does not change; a larger one replaces it. */
  private volatile Session[] all = {};

  private volatile boolean closed;
  private volatile boolean faulted;
  private volatile @Nullable IOException failure;

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
        Session session = sessions[at % sessions.length];
        if (session.tryLend()) {
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
      } else if (more[i].state == Session.BROKEN) {
        end(more[i]);
        more[i] = new Session(i);
      }
    }
    all = more;
  }

  /**
   * Trims a session at the end of its use.
   *
   * @return its state from then on: broken if a resource could not be closed
   */
  int trim(Session session) {
    try {
      session.trim();
      return Session.FREE;
    } catch (IOException | RuntimeException e) {
      failure = e instanceof IOException cause ? cause : new IOException(e);
      return Session.BROKEN;
    }
  }

  /** Notes that a mapped page could not be read, so that a session may never come back. */
  void noteFault() {
    faulted = true;
  }

  /**
   * Waits until all sessions are back and closes them; later calls of {@link #take} fail.
   *
   * @param otherUse says whether something else is in use, for which to wait as well
   */
  Closing close(BooleanSupplier otherUse) {
    synchronized (this) {
      if (closed) {
        return Closing.BEFORE;
      }
      closed = true;
    }
    boolean complete = awaitAll(otherUse);
    if (complete) {
      for (Session session : all) {
        end(session);
      }
      all = new Session[0]; // with windows, which refer to files' memory
    }
    return complete ? Closing.DONE : Closing.SESSION_LOST;
  }

  /** Waits until nothing is in use, without limit unless a fault was noted. */
  private boolean awaitAll(BooleanSupplier otherUse) {
    long faultNanos = 0;
    boolean interrupted = false;
    boolean complete = true;
    for (int pauses = 0; complete && (anyIsLent() || otherUse.getAsBoolean()); pauses++) {
      if (pauses < SPINS) {
        Thread.onSpinWait();
        continue;
      }
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      faultNanos = faulted && faultNanos == 0 ? System.nanoTime() : faultNanos;
      complete = faultNanos == 0 || System.nanoTime() - faultNanos < LOST_NANOS;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return complete;
  }

  private boolean anyIsLent() {
    for (Session session : all) {
      if (session.state == Session.LENT) {
        return true;
      }
    }
    return false;
  }

  private void end(Session session) {
    try {
      session.close();
    } catch (IOException e) { // the other sessions must still be closed
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = new IOException(e);
    }
  }

  /** The failure of {@link #close} to close a session, or null. */
  @Nullable IOException failure() {
    return failure;
  }
}
