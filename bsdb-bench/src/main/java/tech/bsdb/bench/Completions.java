package tech.bsdb.bench;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Slots on their way back to their worker: any thread puts them in, the worker takes them out,
 * nobody locks, nothing is allocated. Holds as many as there are slots, so that it is never full.
 */
final class Completions {
  private final AtomicReferenceArray<@Nullable Slot> ring;
  private final int mask;
  private final AtomicLong tail = new AtomicLong();
  private volatile @Nullable Thread waiting;
  private long head;

  /** Creates an empty queue for a number of slots. */
  Completions(int slots) {
    int size = Integer.highestOneBit(Math.max(1, slots - 1)) << 1;
    this.ring = new AtomicReferenceArray<>(size);
    this.mask = size - 1;
  }

  /** Puts a slot in. */
  void put(Slot slot) {
    ring.set((int) tail.getAndIncrement() & mask, slot);
    Thread worker = waiting;
    if (worker != null) {
      LockSupport.unpark(worker);
    }
  }

  /** Takes a slot out, or gives null where there is none. For the worker. */
  @Nullable Slot poll() {
    int place = (int) head & mask;
    Slot slot = ring.get(place);
    if (slot != null) {
      ring.lazySet(place, null);
      head++;
    }
    return slot;
  }

  /** Takes a slot out, waiting up to a time, then gives null. For the worker. */
  @Nullable Slot take(long untilNanos) {
    Slot slot = poll();
    if (slot != null) {
      return slot;
    }
    waiting = Thread.currentThread();
    try {
      while ((slot = poll()) == null) {
        long left = untilNanos - System.nanoTime();
        if (left <= 0) {
          return null;
        }
        LockSupport.parkNanos(left);
      }
      return slot;
    } finally {
      waiting = null;
    }
  }
}
