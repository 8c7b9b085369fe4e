package tech.bsdb.lookup;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.order.OrderCursor;
import tech.bsdb.order.OrderIndex;

/**
 * The working memory of lookups, lent by {@link Sessions}: a probe, and the drivers of batches once
 * one was needed. Used by one thread at a time.
 */
final class Session {
  /** Only the first guests keep their queues, because each takes two descriptors. */
  private static final int GUESTS_WITH_QUEUES = 64;

  /** The most memory that a guest keeps in each of its buffers, in bytes. */
  private static final int KEEP = 64 << 10;

  /** Its place in {@link Sessions}, or -1 for a guest. */
  final int place;

  /** Its number among the kept guests, or -1. */
  final int guest;

  /** In the stack of free guests: one more than the number of the guest below, or 0 if none. */
  int below;

  /** Its place among the lent guests that are not kept. Guarded by the sessions. */
  int slot;

  /**
   * Whether its use ended with an error that may have left it in any state. It is never lent again,
   * and nobody waits for it. Its user sets this instead of giving it back.
   */
  volatile boolean dropped;

  /**
   * The id of the thread that shows a value to a visitor, or 0. Not volatile: a thread that asks
   * for its own id needs only its own writes.
   */
  private long showing;

  final Probe probe = new Probe();

  /** For batches in mapped files; created by the first. */
  @Nullable StagedLookups staged;

  /** For batches through a read queue; created by the first. */
  @Nullable BatchLookups queued;

  /** A cursor that nobody uses, for the next use of an order of keys. */
  private @Nullable OrderCursor cursor;

  private Session(int place, int guest) {
    this.place = place;
    this.guest = guest;
  }

  /** Returns a cursor over an order of keys, at any key; best {@link #keep kept} after its use. */
  OrderCursor cursor(OrderIndex order) {
    OrderCursor kept = cursor;
    if (kept == null || !kept.index().equals(order)) {
      return new OrderCursor(order);
    }
    cursor = null;
    return kept;
  }

  /** Keeps a cursor that is no longer used. */
  void keep(OrderCursor unused) {
    cursor = unused;
  }

  /** Notes that the calling thread shows a value to a visitor. */
  void startShowing() {
    showing = Thread.currentThread().getId();
  }

  /** Notes that it no longer does; does nothing if another thread has the session by now. */
  void endShowing() {
    if (isShowing(Thread.currentThread().getId())) {
      showing = 0;
    }
  }

  /** Whether a thread, which must be the calling one, shows a value to a visitor. */
  boolean isShowing(long thread) {
    return showing == thread && !dropped;
  }

  /** Creates the session of a place. */
  static Session ofPlace(int place) {
    return new Session(place, -1);
  }

  /** Creates a guest that is kept. */
  static Session guest(int number) {
    return new Session(-1, number);
  }

  /** Creates a guest that is closed when it is returned. */
  static Session transientGuest() {
    return new Session(-1, -1);
  }

  /**
   * Releases memory and queues beyond what each guest may keep.
   *
   * @throws UncheckedIOException if a queue cannot be closed; the session drops it anyway
   */
  void trim() {
    probe.trim(KEEP);
    cursor = null;
    BatchLookups open = queued;
    if (open != null) {
      if (guest < GUESTS_WITH_QUEUES) {
        open.trim();
      } else {
        closeQueue(open);
      }
    }
  }

  /**
   * Frees what is not garbage-collected.
   *
   * @throws UncheckedIOException if a queue cannot be closed; the session drops it anyway
   */
  void close() {
    probe.close();
    BatchLookups open = queued;
    if (open != null) {
      closeQueue(open);
    }
  }

  private void closeQueue(BatchLookups open) {
    queued = null;
    try {
      open.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
