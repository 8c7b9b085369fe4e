package tech.bsdb.bench;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A lock-free queue of completed slots. Any thread puts slots in; only their worker takes them out.
 * Allocates nothing. Has room for all slots, so it is never full.
 */
final class Completions {
  private final AtomicReferenceArray<@Nullable Slot> ring;
  private final int mask;
  private final AtomicLong tail = new AtomicLong();
  private volatile @Nullable Thread waiting;
  private long head;

  /** Creates an empty queue for {@code slots} slots. */
  Completions(int slots) {
    int size = Integer.highestOneBit(Math.max(1, slots - 1)) << 1;
    this.ring = new AtomicReferenceArray<>(size);
    this.mask = size - 1;
  }

  /** Adds a slot. */
  void put(Slot slot) {
    ring.set((int) tail.getAndIncrement() & mask, slot);
    Thread worker = waiting;
    if (worker != null) {
      LockSupport.unpark(worker);
    }
  }

  /** Takes a slot, or returns null if there is none. For the worker only. */
  @Nullable Slot poll() {
    int place = (int) head & mask;
    Slot slot = ring.get(place);
    if (slot != null) {
      ring.lazySet(place, null);
      head++;
    }
    return slot;
  }

  /** Takes a slot, waiting until the given time; returns null after that. For the worker only. */
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

  /**
   * One request in flight. Its worker fills it; the completing thread adds the answer and returns
   * it through {@link Completions}. Owned by one of them at a time.
   */
  static final class Slot {
    /** Whether an answer is awaited. */
    final AtomicBoolean pending = new AtomicBoolean();

    /** The request's number in the {@link KeySet}. */
    int request;

    /** When it was sent or due; 0 if it is not timed. */
    long beganNanos;

    /** When it was answered, if it is timed. */
    long endedNanos;

    /** One in how many requests is timed. */
    int stride;

    /** The answer; null for an absent key or a failure. */
    byte @Nullable [] value;

    /** Why it failed, if it did. */
    @Nullable Throwable failure;
  }
}
