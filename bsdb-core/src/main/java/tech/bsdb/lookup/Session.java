package tech.bsdb.lookup;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import tech.bsdb.order.OrderCursor;
import tech.bsdb.order.OrderIndex;

/**
 * The working memory of a lookup, lent by {@link Sessions}: a probe, and the drivers of batches
 * once they were needed. Used by one thread at a time.
 */
final class Session {
  /** Nobody has it. */
  static final int FREE = 0;

  /** A lookup has it. */
  static final int LENT = 1;

  /**
   * An error may have left it in any state. It is never lent again, and nobody waits for it, but
   * what it has is freed.
   */
  static final int BROKEN = 2;

  /**
   * The number of sessions that keep whatever memory they needed, one for each of as many threads.
   */
  static final int OWN =
      Integer.highestOneBit(Math.max(4, 4 * Runtime.getRuntime().availableProcessors()));

  /** Only the first sessions keep their queues, because each takes two descriptors. */
  private static final int WITH_QUEUES = OWN + 64;

  /**
   * The number of sessions that keep {@link #KEEP}; the others keep nothing. A pool of threads that
   * wait for a device is rarely larger, and a session takes 16 KiB.
   */
  private static final int KEEPING = OWN + 256;

  /** The most bytes of each of its buffers that a session beyond the first {@link #OWN} keeps. */
  private static final int KEEP = 64 << 10;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Session.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** {@link #FREE}, {@link #LENT} or {@link #BROKEN}. */
  volatile int state;

  private final int number;

  final Probe probe = new Probe();

  /** For batches in files in memory; created by the first. */
  @Nullable Staged staged;

  /** For batches through a read queue; created by the first. */
  @Nullable BatchLookups queued;

  /** A cursor that nobody uses, for the next use of an order of keys. */
  private @Nullable OrderCursor cursor;

  /** Creates a free session. */
  Session(int number) {
    this.number = number;
  }

  /** Lends it to the caller if it is free; returns whether it was. */
  boolean tryLend() {
    return state == FREE && STATE.compareAndSet(this, FREE, LENT);
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

  /** Releases memory and queues beyond what it may keep while it is free. */
  void trim() throws IOException {
    if (number >= OWN) {
      int most = number < KEEPING ? KEEP : 0;
      probe.trim(most);
      cursor = null;
      if (most == 0) {
        probe.close();
        staged = null;
      }
      BatchLookups open = queued;
      if (open != null && number < WITH_QUEUES) {
        open.trim();
      } else if (open != null) {
        queued = null;
        open.close();
      }
    }
  }

  /** Frees what is not garbage-collected. */
  void close() throws IOException {
    probe.close();
    BatchLookups open = queued;
    queued = null;
    if (open != null) {
      open.close();
    }
  }
}
