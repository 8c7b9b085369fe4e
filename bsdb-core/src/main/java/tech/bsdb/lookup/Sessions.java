package tech.bsdb.lookup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lends sessions to lookups and closes only when all are back, so that nothing is unmapped or freed
 * during a lookup. Thread-safe.
 *
 * <p>Each thread has a preferred place. One atomic exchange takes the session there and one release
 * store gives it back, which costs less than a lock or a reader count. A thread that finds its
 * place empty takes the guest session given back most recently, or creates one. Up to {@link
 * #MAX_GUESTS} guest sessions are kept; the others are closed when they are given back.
 *
 * <p>A fault in a mapped page reaches Java as an {@link InternalError} with a short delay, possibly
 * while a session is being given back, and such a session is lost. So once a fault has been {@link
 * #noteFault noted}, {@link #close} waits only for a limited time.
 */
final class Sessions {
  private static final int PLACES =
      Integer.highestOneBit(Math.max(4, 4 * Runtime.getRuntime().availableProcessors()));

  /** Distance between places in the array, so that no two share a cache line. */
  private static final int STRIDE = 16;

  /**
   * Maximum number of guests kept for reuse. A pool of threads that wait for a device is rarely
   * larger, and a session takes 16 KiB.
   */
  static final int MAX_GUESTS = 256;

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

  /** The outcome of {@link #close}. */
  enum Closing {
    /** All sessions are back; nothing is in use. */
    DONE,
    /** Another call has closed it or is closing it. */
    BEFORE,
    /** A fault lost a session, or its lookup is still running: mapped files must stay mapped. */
    SESSION_LOST
  }

  private final @Nullable Session[] places = new Session[PLACES * STRIDE];
  private final @Nullable Session[] made = new Session[PLACES];

  /* Kept guests by number. Those that are back form a stack, linked by number. */
  private final @Nullable Session[] guests = new Session[MAX_GUESTS];

  /**
   * The top of the stack. The low half is a guest's number plus one, or 0 if the stack is empty.
   * The high half counts changes, so that a taker detects that the same guest was taken and given
   * back in the meantime.
   */
  private volatile long top;

  /** Number of guests created to be kept. Guarded by this. */
  private int kept;

  /** The lent guests that will not be kept. Guarded by this. */
  private final Set<Session> transients = new HashSet<>();

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
      // Only if the place is still empty: its own session may have been given back meanwhile.
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
    Session guest = made[place] != null ? popGuest() : null; // create the place's own session first
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
    if (made[place] == null) {
      Session own = Session.ofPlace(place);
      made[place] = own;
      return own;
    }
    if (kept < MAX_GUESTS) {
      Session guest = Session.guest(kept);
      guests[kept++] = guest; // published to other threads through the stack
      return guest;
    }
    Session guest = Session.transientGuest();
    transients.add(guest);
    return guest;
  }

  /** Takes the guest given back most recently, or returns null if there is none. */
  private @Nullable Session popGuest() {
    while (true) {
      long found = top;
      int number = (int) found - 1;
      if (number < 0) {
        return null;
      }
      Session guest = guests[number];
      // If another thread has taken the guest, its link is arbitrary, but the exchange then fails.
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
   * @throws java.io.UncheckedIOException if a resource of the session had to be closed and could
   *     not be
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
          transients.remove(session);
        }
      }
    }
  }

  /** Notes that a mapped page could not be read, so that a session may never come back. */
  void noteFault() {
    faulted = true;
  }

  /** Waits until all sessions are back and closes them; later calls of {@link #take} fail. */
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
      if (made[place] != null) {
        complete &= await(place, patience);
      } else {
        PLACE.setVolatile(places, place * STRIDE, CLOSED);
      }
    }
    int back = 0;
    while (complete && (back < guestsKept() || transientsOut())) {
      Session guest = popGuest();
      if (guest != null) { // nobody else will take it again
        closeSession(guest);
        back++;
      } else {
        complete = patience.pause();
      }
    }
    if (patience.interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!complete) {
      return Closing.SESSION_LOST;
    }
    Arrays.fill(made, null); // with the windows, which refer to the files' memory
    Arrays.fill(guests, null);
    return Closing.DONE;
  }

  /** Whether the calling thread is showing a value to a visitor. */
  synchronized boolean isShowing() {
    long thread = Thread.currentThread().getId();
    return isShowing(made, thread)
        || isShowing(guests, thread)
        || transients.stream().anyMatch(session -> session.isShowing(thread));
  }

  private static boolean isShowing(@Nullable Session[] sessions, long thread) {
    for (Session session : sessions) {
      if (session != null && session.isShowing(thread)) {
        return true;
      }
    }
    return false;
  }

  private void closeSession(Session session) {
    try {
      session.close();
    } catch (UncheckedIOException e) { // the other sessions must still be closed
      failure = e.getCause();
    }
  }

  /** The failure of {@link #close} to close a session, or null. */
  @Nullable IOException failure() {
    return failure;
  }

  private synchronized int guestsKept() {
    return kept;
  }

  private synchronized boolean transientsOut() {
    return !transients.isEmpty();
  }

  /** Waits for the session of a place and closes it; false if it gives up. */
  private boolean await(int place, Patience patience) {
    while (true) {
      Session session = (Session) PLACE.getAndSet(places, place * STRIDE, CLOSED);
      if (session != null && session != CLOSED) {
        closeSession(session);
        return true;
      }
      // The session is lent: giving it back overwrites CLOSED, so look again.
      if (!patience.pause()) {
        return false;
      }
    }
  }

  /** Waits in short pauses, without limit unless a fault was noted. Not thread-safe. */
  private final class Patience {
    private int spins;
    private long faultNanos;
    boolean interrupted;

    /** Pauses; false when it is time to give up. */
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
