package tech.bsdb.read;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Lends sessions to look-ups and ends only when all are back, so that nothing is unmapped or freed
 * under a look-up. Thread-safe.
 *
 * <p>Each thread has a favourite place; one exchange takes the session that lies there and one
 * release store gives it back, which costs less than a lock or a counter of readers. A taker that
 * finds its place empty makes a session of its own, which ends when it is given back.
 *
 * <p>A fault in a mapped page reaches Java as an {@link InternalError} a little later than it
 * happened, even while a session is being given back, and such a session is lost. So once a fault
 * was {@link #noteFault noted}, {@link #close} waits for a time only.
 */
final class Sessions {
  private static final int PLACES =
      Integer.highestOneBit(Math.max(4, 4 * Runtime.getRuntime().availableProcessors()));

  /** Places are this far apart, so that no two lie in one cache line. */
  private static final int STRIDE = 16;

  private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(Session[].class);
  private static final Session CLOSED = new Session(-1);

  /** How long to wait for a session that a fault may have lost. */
  private static final long LOST_NANOS = 2_000_000_000L;

  /** How {@link #close} went. */
  enum Closing {
    /** All sessions are back: nothing is in use any more. */
    DONE,
    /** Another call did it. */
    BEFORE,
    /** A fault lost a session, or its look-up still runs: what is mapped must stay mapped. */
    SESSION_LOST
  }

  private final @Nullable Session[] places = new Session[PLACES * STRIDE];
  private final boolean[] made = new boolean[PLACES];
  private int guests;
  private volatile boolean closed;
  private volatile boolean faulted;

  /** A session for the calling thread; it must be given back. */
  Session take() {
    int place = (int) Thread.currentThread().getId() & PLACES - 1;
    Session session = (Session) PLACE.getAndSet(places, place * STRIDE, null);
    if (session == null) {
      return make(place);
    }
    if (session == CLOSED) {
      // Only over the gap that we left: the place's own session may have come back meanwhile.
      PLACE.compareAndSet(places, place * STRIDE, null, CLOSED);
      throw closed();
    }
    if (closed) {
      giveBack(session);
      throw closed();
    }
    return session;
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the database is closed");
  }

  private synchronized Session make(int place) {
    if (closed) {
      throw closed();
    }
    if (!made[place]) {
      made[place] = true;
      return new Session(place);
    }
    guests++;
    return new Session(-1);
  }

  /** Gives a session back. */
  void giveBack(Session session) {
    if (session.place >= 0) {
      PLACE.setRelease(places, session.place * STRIDE, session);
    } else {
      session.close();
      synchronized (this) {
        guests--;
      }
    }
  }

  /** Notes that a mapped page could not be read, so that a session may never come back. */
  void noteFault() {
    faulted = true;
  }

  /** Waits until all sessions are back, and ends them; later takers fail. */
  Closing close() {
    synchronized (this) {
      if (closed) {
        return Closing.BEFORE;
      }
      closed = true;
    }
    Patience patience = new Patience();
    boolean complete = true;
    for (int place = 0; place < PLACES; place++) {
      if (made[place]) {
        complete &= await(place, patience);
      } else {
        PLACE.setVolatile(places, place * STRIDE, CLOSED);
      }
    }
    while (guestsOut() && complete) {
      complete = patience.pause();
    }
    if (patience.interrupted) {
      Thread.currentThread().interrupt();
    }
    return complete ? Closing.DONE : Closing.SESSION_LOST;
  }

  private synchronized boolean guestsOut() {
    return guests > 0;
  }

  /** Waits for the session of a place; false if it is given up. */
  private boolean await(int place, Patience patience) {
    while (true) {
      Session session = (Session) PLACE.getAndSet(places, place * STRIDE, CLOSED);
      if (session != null && session != CLOSED) {
        session.close();
        return true;
      }
      // Out on loan: its taker will store it here, over the mark, and we look again.
      if (!patience.pause()) {
        return false;
      }
    }
  }

  /** Waits a little at a time; without end, unless a fault was noted. One thread's own. */
  private final class Patience {
    private int spins;
    private long faultNanos;
    boolean interrupted;

    /** False when there is no hope left. */
    boolean pause() {
      if (spins < 1000) {
        spins++;
        Thread.onSpinWait();
        return true;
      }
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      if (!faulted) {
        return true;
      }
      long now = System.nanoTime();
      if (faultNanos == 0) {
        faultNanos = now;
      }
      return now - faultNanos < LOST_NANOS;
    }
  }
}
