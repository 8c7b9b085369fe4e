package tech.bsdb.lookup;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.format.Page;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;
import tech.bsdb.order.OrderCursor;
import tech.bsdb.order.OrderIndex;

/**
 * The working memory of a lookup, lent by {@link Sessions}, and the drivers of batches once they
 * were needed. Used by one thread at a time.
 */
final class Session {
  /** Nobody has it. */
  static final long FREE = 0;

  /**
   * An error may have left it in any state. It is never lent again, and nobody waits for it, but
   * what it has is freed.
   */
  static final long BROKEN = 1;

  /** With the id of a thread in the other bits: this thread has it. Such states are negative. */
  private static final long LENT = Long.MIN_VALUE;

  /** Marks a value that would have to be read; compared by identity. */
  static final byte[] NOT_IN_MEMORY = new byte[0];

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
      STATE = MethodHandles.lookup().findVarHandle(Session.class, "state", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** {@link #FREE}, {@link #BROKEN}, or {@link #LENT} to a thread. */
  volatile long state;

  /** Keep the states of other sessions out of the cache line. */
  @SuppressWarnings("unused")
  private long pad1, pad2, pad3, pad4, pad5, pad6, pad7;

  private final int number;

  final Signature signature = new Signature();

  /** For a value that becomes an array of its own. */
  final Values values = Values.separate();

  /** For a value that is shown where it lies. */
  final Values shown = Values.inPlace();

  final Scratch scratch = new Scratch();

  /** For reads before the final one. */
  final Extent before = new Extent();

  /** For the final read. */
  final Extent last = new Extent();

  /** For batches in files in memory; created by the first. */
  private @Nullable Staged staged;

  /** For batches through a read queue; created by the first. */
  private @Nullable QueuedLookups queued;

  /** A cursor that nobody uses, for the next use of an order of keys. */
  private @Nullable OrderCursor cursor;

  /** Creates a free session. */
  Session(int number) {
    this.number = number;
  }

  /** Lends it to the calling thread, with the given id, if it is free; returns whether it was. */
  boolean tryLend(long thread) {
    return state == FREE && STATE.compareAndSet(this, FREE, LENT | thread);
  }

  /** Whether a thread has it. */
  boolean isLent() {
    return state < 0;
  }

  /** Whether the thread with the given id has it. */
  boolean isLentTo(long thread) {
    return state == (LENT | thread);
  }

  /**
   * Looks up a key, reading one extent after the other.
   *
   * @param values receives the value
   * @param touchedOnly whether to read only pages that were read before and are thus probably in
   *     memory
   * @return the array that holds the value; null if the key is absent; {@link #NOT_IN_MEMORY} if
   *     other pages must be read
   */
  byte @Nullable [] find(Locator locator, byte[] key, Values values, boolean touchedOnly)
      throws IOException {
    long place = locator.start(key, signature);
    if (place == Locator.ABSENT) {
      return null;
    }
    int end = locator.reads() - 1;
    for (int read = 0; ; read++) {
      Extent extent = read < end ? before : last;
      locator.locate(read, place, extent);
      long bytes = (long) extent.count() * Page.SIZE;
      if (touchedOnly) {
        if (!extent.touched()) {
          return NOT_IN_MEMORY;
        }
      } else if (bytes > Values.UNASKED) {
        values.reserve(bytes);
      }
      extent.read();
      if (read == end) {
        return touchedOnly && !locator.holds(place, extent)
            ? NOT_IN_MEMORY
            : locator.value(place, key, extent, values, scratch);
      }
      place = locator.next(place, extent);
    }
  }

  /** Stages for batches in files in memory. */
  Staged staged(Route route) {
    Staged made = staged;
    if (made == null) {
      made = new Staged(route, this);
      staged = made;
    }
    return made;
  }

  /** Looks up all keys of a batch through a queue, kept for the next one unless the queue fails. */
  void runQueued(KeyBatch batch, Route route, EngineChoice.Chosen engines) throws IOException {
    QueuedLookups open = queued;
    if (open == null) {
      open = new QueuedLookups(route, engines, false);
      queued = open;
    }
    try {
      open.run(batch, signature);
    } catch (IOException | RuntimeException | InternalError e) {
      queued = null;
      open.close();
      throw e;
    } // after an error the session is dropped, and closed with its queue later
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
      before.trim(most);
      last.trim(most);
      scratch.trim(most);
      shown.trim(most);
      cursor = null;
      if (most == 0) {
        scratch.close();
        staged = null;
      }
      QueuedLookups open = queued;
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
    scratch.close();
    QueuedLookups open = queued;
    queued = null;
    if (open != null) {
      open.close();
    }
  }
}
