package tech.bsdb.lookup;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The threads that are showing a value to a visitor, so that closing can wait for them.
 * Thread-safe.
 *
 * <p>A visit takes one compare-and-set, in the place of its thread. If that is taken, by a visit
 * that the same thread is in or by another thread, it is one of a list.
 */
final class Visits {
  private static final int PLACES =
      Integer.highestOneBit(Math.max(4, 4 * Runtime.getRuntime().availableProcessors()));

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

  private final Visit[] places = new Visit[PLACES];

  /** Guarded by this. */
  private final List<Visit> more = new ArrayList<>();

  Visits() {
    for (int i = 0; i < PLACES; i++) {
      places[i] = new Visit();
    }
  }

  /** Begins a visit by the calling thread. What the caller reads next is read after that. */
  Visit begin() {
    long thread = Thread.currentThread().getId();
    Visit place = places[(int) thread & PLACES - 1];
    if (place.thread == 0 && THREAD.compareAndSet(place, 0L, thread)) {
      return place;
    }
    return another(thread);
  }

  private synchronized Visit another(long thread) {
    int tried = 0;
    while (true) {
      if (tried == more.size()) {
        more.add(new Visit());
      }
      Visit visit = more.get(tried++);
      if (visit.thread == 0 && THREAD.compareAndSet(visit, 0L, thread)) {
        return visit;
      }
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

  private synchronized boolean anyOf(long least, long most) {
    return anyOf(Arrays.asList(places), least, most) || anyOf(more, least, most);
  }

  private static boolean anyOf(List<Visit> visits, long least, long most) {
    for (Visit visit : visits) {
      long thread = (long) THREAD.getVolatile(visit);
      if (thread != 0 && thread >= least && thread <= most) {
        return true;
      }
    }
    return false;
  }
}
