package tech.bsdb.lookup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Lends sessions to lookups and closes only when all are back, so that nothing is unmapped or freed
 * during a lookup. Thread-safe.
 *
 * <p>Each thread has a preferred place. One compare-and-set takes the session there and one release
 * store gives it back, which costs less than a lock or a reader count. A thread that finds its
 * place empty takes the guest session given back most recently, or creates one. Up to {@link
 * #MAX_GUESTS} guest sessions are kept; the others are closed when they are given back.
 *
 * <p>A stack may overflow at any call. So nothing is called between taking a session and returning
 * it, nor after giving one back: either the caller has the session, or it is not lent. A session
 * that cannot be given back is {@link Session#dropped}, by a store that needs no call, and {@link
 * #close} does not wait for it.
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

  /** The lent guests that will not be kept, each at its slot. Guarded by this. */
  private @Nullable Session[] transients = new Session[0];

  /** The end of the used slots. Guarded by this. */
  private int slots;

  private volatile boolean closed;
  private volatile boolean faulted;
  private volatile @Nullable IOException failure;

  /** A session for the calling thread, which must be given back or {@link Session#dropped}. */
  Session take() {
    int place = (int) Thread.currentThread().getId() & PLACES - 1;
    // An exchange would do, but then the reference is cast, which may be a call.
    Session session = places[place * STRIDE];
    if (session == CLOSED) {
      throw closed();
    }
    if (session == null || !PLACE.compareAndSet(places, place * STRIDE, session, null)) {
      session = takeGuest(place);
    }
    if (closed) {
      try {
        giveBack(session);
      } catch (StackOverflowError e) {
        session.dropped = true;
        throw e;
      }
      throw closed();
    }
    return session;
  }

  /** Fails if this is closed. */
  void requireOpen() {
    if (closed) {
      throw closed();
    }
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the database is closed");
  }

  private Session takeGuest(int place) {
    Session own = made[place]; // has to be created before guests
    Session guest = own != null && !own.dropped ? popGuest() : null;
    return guest != null ? guest : make(place);
  }

  private synchronized Session make(int place) {
    if (closed) {
      throw closed();
    }
    Session own = made[place];
    if (own == null || own.dropped) {
      closeSession(own);
      Session fresh = Session.ofPlace(place);
      made[place] = fresh;
      return fresh;
    }
    int number = 0;
    while (number < kept && !isDropped(guests[number])) {
      number++;
    }
    if (number < MAX_GUESTS) {
      closeSession(guests[number]);
      Session guest = Session.guest(number);
      guests[number] = guest; // published to other threads through the stack
      if (number == kept) {
        kept++;
      }
      return guest;
    }
    if (slots == transients.length) {
      makeRoom();
    }
    Session guest = Session.transientGuest();
    guest.slot = slots;
    transients[slots++] = guest;
    return guest;
  }

  private static boolean isDropped(@Nullable Session session) {
    return session != null && session.dropped;
  }

  /** Closes dropped sessions and frees the slots of those that were given back. */
  private void makeRoom() {
    int out = 0;
    for (int i = 0; i < slots; i++) {
      if (isDropped(transients[i])) {
        closeSession(transients[i]);
        transients[i] = null;
      }
      out += transients[i] == null ? 0 : 1;
    }
    @Nullable Session[] all = transients;
    transients = new Session[2 * out + 16];
    slots = 0;
    for (Session session : all) {
      if (session != null) {
        session.slot = slots;
        transients[slots++] = session;
      }
    }
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
   * Gives a session back. If this throws, other than for a fault in a mapped page, the session is
   * not back: it is dropped, or the caller has to drop it after a {@link StackOverflowError}.
   *
   * @throws java.io.UncheckedIOException if a resource of the session had to be closed and could
   *     not be
   */
  void giveBack(Session session) {
    if (session.place >= 0) {
      VarHandle.releaseFence(); // with the plain store: a release store without a call
      places[session.place * STRIDE] = session;
    } else if (session.guest >= 0) {
      try {
        session.trim();
      } catch (RuntimeException | Error e) {
        session.dropped = true;
        throw e;
      }
      pushGuest(session);
    } else {
      try {
        session.close();
      } finally {
        synchronized (this) {
          transients[session.slot] = null;
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
    while (complete && guestsOut()) {
      Session guest = popGuest();
      if (guest != null) { // nobody else will take it again
        closeSession(guest);
        guest.dropped = true;
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
    closeAll(made);
    closeAll(guests);
    closeAll(transients);
    return Closing.DONE;
  }

  /** Whether the calling thread is showing a value to a visitor. */
  synchronized boolean isShowing() {
    long thread = Thread.currentThread().getId();
    return isShowing(made, thread) || isShowing(guests, thread) || isShowing(transients, thread);
  }

  private static boolean isShowing(@Nullable Session[] sessions, long thread) {
    for (Session session : sessions) {
      if (session != null && session.isShowing(thread)) {
        return true;
      }
    }
    return false;
  }

  /** Closes the sessions and forgets them, with their windows, which refer to files' memory. */
  private void closeAll(@Nullable Session[] sessions) {
    for (Session session : sessions) {
      closeSession(session);
    }
    Arrays.fill(sessions, null);
  }

  private void closeSession(@Nullable Session session) {
    if (session != null) {
      try {
        session.close();
      } catch (UncheckedIOException e) { // the other sessions must still be closed
        failure = e.getCause();
      } catch (RuntimeException e) {
        failure = new IOException(e);
      }
    }
  }

  /** The failure of {@link #close} to close a session, or null. */
  @Nullable IOException failure() {
    return failure;
  }

  /** Whether a guest is lent, or free and still to be closed. */
  private synchronized boolean guestsOut() {
    return anyInUse(guests) || anyInUse(transients);
  }

  private static boolean anyInUse(@Nullable Session[] sessions) {
    for (Session session : sessions) {
      if (session != null && !session.dropped) {
        return true;
      }
    }
    return false;
  }

  /** Waits for the session of a place and closes it; false if it gives up. */
  private boolean await(int place, Patience patience) {
    while (true) {
      Session session = (Session) PLACE.getAndSet(places, place * STRIDE, CLOSED);
      if (session != null && session != CLOSED) {
        closeSession(session);
        return true;
      }
      if (isDropped(made[place])) {
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
