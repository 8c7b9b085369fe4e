package tech.bsdb.lookup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Lends sessions to lookups and ends only when all are back, so that nothing is unmapped or freed
 * under a lookup. Thread-safe.
 *
 * <p>Each thread has a favourite place; one exchange takes the session that lies there and one
 * release store gives it back, which costs less than a lock or a counter of readers. A taker that
 * finds its place empty is a guest: it takes the guest session that was given back last, or makes
 * one. Up to {@link #MOST_GUESTS} of those are kept; the rest end when they are given back.
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

  /**
   * Guests that are kept for the next use. A pool of threads that wait for a device is rarely
   * larger, and a session takes 16 KiB.
   */
  static final int MOST_GUESTS = 256;

  private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(Session[].class);
  private static final VarHandle TOP;
  private static final Session CLOSED = Session.transientGuest();

  static {
    try {
      TOP = MethodHandles.lookup().findVarHandle(Sessions.class, "top", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** How long to wait for a session that a fault may have lost. */
  private static final long LOST_NANOS = 2_000_000_000L;

  /** How {@link #close} went. */
  enum Closing {
    /** All sessions are back: nothing is in use any more. */
    DONE,
    /** Another call did it. */
    BEFORE,
    /** A fault lost a session, or its lookup still runs: what is mapped must stay mapped. */
    SESSION_LOST
  }

  private final @Nullable Session[] places = new Session[PLACES * STRIDE];
  private final boolean[] made = new boolean[PLACES];

  /* Guests that are kept, by their numbers; those that are back form a stack, linked by number. */
  private final @Nullable Session[] guests = new Session[MOST_GUESTS];

  /**
   * The top of the stack: in the low half one more than a guest's number, or 0 if the stack is
   * empty; in the high half a count of changes, so that a taker notices that the same guest was
   * taken and given back meanwhile.
   */
  private volatile long top;

  /** Guests that were made to be kept. Guarded by this. */
  private int kept;

  /** Guests that are out and will not be kept. Guarded by this. */
  private int transients;

  private volatile boolean closed;
  private volatile boolean faulted;
  private volatile @Nullable IOException failure;

  /** A session for the calling thread; it must be given back. */
  Session take() {
    int place = (int) Thread.currentThread().getId() & PLACES - 1;
    Session session = (Session) PLACE.getAndSet(places, place * STRIDE, null);
    if (session == null) {
      return takeGuest(place);
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

  private Session takeGuest(int place) {
    Session guest = made[place] ? popGuest() : null; // the place's own session first
    if (guest == null) {
      return make(place);
    }
    if (closed) {
      giveBack(guest);
      throw closed();
    }
    return guest;
  }

  private synchronized Session make(int place) {
    if (closed) {
      throw closed();
    }
    if (!made[place]) {
      made[place] = true;
      return Session.ofPlace(place);
    }
    if (kept < MOST_GUESTS) {
      Session guest = Session.guest(kept);
      guests[kept++] = guest; // seen by others through the stack
      return guest;
    }
    transients++;
    return Session.transientGuest();
  }

  /** Takes the guest that came back last; null if none is there. */
  private @Nullable Session popGuest() {
    while (true) {
      long found = top;
      int number = (int) found - 1;
      if (number < 0) {
        return null;
      }
      Session guest = guests[number];
      // If another thread has the guest by now, its link may be any; then the exchange fails.
      if (guest != null && TOP.compareAndSet(this, found, change(found, guest.below))) {
        return guest;
      }
    }
  }

  private void pushGuest(Session guest) {
    while (true) {
      long found = top;
      guest.below = (int) found;
      if (TOP.compareAndSet(this, found, change(found, guest.guest + 1))) {
        return;
      }
    }
  }

  private static long change(long found, int to) {
    return ((found >>> 32) + 1) << 32 | to;
  }

  /**
   * Gives a session back.
   *
   * @throws java.io.UncheckedIOException if something of it had to be closed and could not
   */
  void giveBack(Session session) {
    if (session.place >= 0) {
      PLACE.setRelease(places, session.place * STRIDE, session);
    } else if (session.guest >= 0) {
      try {
        session.trim();
      } finally {
        pushGuest(session);
      }
    } else {
      try {
        session.close();
      } finally {
        synchronized (this) {
          transients--;
        }
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
    int back = 0;
    while (complete && (back < guestsKept() || transientsOut())) {
      Session guest = popGuest();
      if (guest != null) { // ours for good: nobody will take it again
        end(guest);
        back++;
      } else {
        complete = patience.pause();
      }
    }
    if (patience.interrupted) {
      Thread.currentThread().interrupt();
    }
    return complete ? Closing.DONE : Closing.SESSION_LOST;
  }

  private void end(Session session) {
    try {
      session.close();
    } catch (UncheckedIOException e) { // the others must end all the same
      failure = e.getCause();
    }
  }

  /** Why something of a session could not be closed by {@link #close}, or null. */
  @Nullable IOException failure() {
    return failure;
  }

  private synchronized int guestsKept() {
    return kept;
  }

  private synchronized boolean transientsOut() {
    return transients > 0;
  }

  /** Waits for the session of a place; false if it is given up. */
  private boolean await(int place, Patience patience) {
    while (true) {
      Session session = (Session) PLACE.getAndSet(places, place * STRIDE, CLOSED);
      if (session != null && session != CLOSED) {
        end(session);
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
