package tech.bsdb.lookup;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The threads that are showing a value to a visitor, so that closing can wait for them.
 * Thread-safe.
 *
 * <p>A visit takes one compare-and-set, in the place of its thread. If that is taken, by a visit
 * that the same thread is in or by another thread, it takes another place at random. There are more
 * places if few are free.
 */
final class Visits {
  private static final int PLACES =
      Integer.highestOneBit(Math.max(4, 4 * Runtime.getRuntime().availableProcessors()));

  /** The places that a visit tries before it makes more. */
  private static final int TRIES = 16;

  private static final VarHandle THREAD;

  static {
    try {
      THREAD = MethodHandles.lookup().findVarHandle(Visit.class, "thread", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** A visit, or a place for one. */
  static final class Visit {
    /**
     * The id of its thread; 0 once it has ended, which takes a store and no call, since a stack may
     * overflow at any call. Order the store after all that the visitor does.
     */
    long thread;

    /** Keep other visits out of the cache line. */
    @SuppressWarnings("unused")
    private long pad1, pad2, pad3, pad4, pad5, pad6, pad7;
  }

  /** All places, a power of two. An array does not change; a larger one replaces it. */
  private volatile Visit[] all = more(new Visit[0], PLACES);

  private static Visit[] more(Visit[] visits, int length) {
    Visit[] more = Arrays.copyOf(visits, length);
    for (int i = visits.length; i < length; i++) {
      more[i] = new Visit();
    }
    return more;
  }

  /** Begins a visit by the calling thread. What the caller reads next is read after that. */
  Visit begin() {
    long thread = Thread.currentThread().getId();
    while (true) {
      Visit[] visits = all;
      int number = (int) thread;
      for (int tried = 0; tried < TRIES; tried++) {
        Visit visit = visits[number & visits.length - 1];
        if (visit.thread == 0 && THREAD.compareAndSet(visit, 0L, thread)) {
          return visit; // nothing is called in between
        }
        number = ThreadLocalRandom.current().nextInt();
      }
      grow(visits);
    }
  }

  private synchronized void grow(Visit[] known) {
    if (all == known) {
      all = more(known, 2 * known.length);
    }
  }

  /** Whether a thread, which must be the calling one, is in a visit. */
  boolean isIn(long thread) {
    return anyOf(thread, thread);
  }

  /** Whether any visit has begun and not ended. */
  boolean isAny() {
    return anyOf(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  private boolean anyOf(long least, long most) {
    for (Visit visit : all) {
      long thread = (long) THREAD.getVolatile(visit);
      if (thread != 0 && thread >= least && thread <= most) {
        return true;
      }
    }
    return false;
  }
}
