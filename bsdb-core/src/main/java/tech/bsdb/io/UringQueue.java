package tech.bsdb.io;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A queue on top of one io_uring. A single system call submits added reads and fetches completed
 * ones.
 */
final class UringQueue implements ReadQueue {
  /*
   * Two rings in memory are shared with the kernel. We write 64-byte submission entries (SQE) and advance the tail of
   * the submission queue; the kernel writes 16-byte completions (CQE) and advances the tail of the completion queue.
   * Each side advances the head of the queue it consumes. The kernel reads the submission queue only while we are in
   * io_uring_enter, so nothing is submitted earlier.
   *
   *   io_uring_params  sq_entries 0, cq_entries 4, flags 8, features 20, sq_off 40, cq_off 80
   *   sq_off           head 0, tail 4, mask 8, entries 12, flags 16, dropped 20, array 24
   *   cq_off           head 0, tail 4, mask 8, entries 12, overflow 16, cqes 20
   *   SQE              opcode 0 (1), flags 1 (1), fd 4, offset 8 (8), address 16 (8), length 24, user data 32 (8)
   *   CQE              user data 0 (8), result 8
   *
   * The ring never holds more reads than the submission queue has entries, and the completion queue is larger, so
   * neither can overflow.
   */
  private static final int PARAMETERS = 120;
  private static final int SQE = 64;
  private static final int CQE = 16;
  private static final byte OPCODE_READ = 22;
  private static final int ENTER_GET_EVENTS = 1;
  private static final long OFFSET_RINGS = 0;
  private static final long OFFSET_ENTRIES = 0x10000000L;

  private static final int SUBMIT_ALL = 1 << 7;
  private static final int COOPERATIVE = 1 << 8;
  private static final int SINGLE_ISSUER = 1 << 12;
  private static final int DEFER_TASK_RUN = 1 << 13;
  private static final int[] FOR_ONE_THREAD = {
    SUBMIT_ALL | SINGLE_ISSUER | DEFER_TASK_RUN, SUBMIT_ALL | COOPERATIVE, 0
  };
  private static final int[] FOR_MANY_THREADS = {SUBMIT_ALL | COOPERATIVE, 0};

  /* SINGLE_MMAP, NODROP, RW_CUR_POS (5.6, as OP_READ) and FAST_POLL (5.7). */
  private static final int FEATURES_NEEDED = 1 | 1 << 1 | 1 << 3 | 1 << 5;

  private static final VarHandle INTS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  /** How many times to retry, each after {@link #REFUSAL_NANOS}, when the kernel lacks memory. */
  private static final int MAX_REFUSALS = 1000;

  private static final long REFUSAL_NANOS = 1_000_000;

  /**
   * Reads added while others are handed over are submitted in batches of this size, so that the
   * device does not idle.
   */
  private static final int FLUSH = 8;

  /** The user data of the event counter's read; other reads carry their place. */
  private static final long EVENT = -1;

  /*
   * Receives the event counters that the kernel reads. The contents are ignored. It is never freed, so a read still
   * armed when its ring is closed does no harm.
   */
  private static final ByteBuffer EVENT_SINK = ByteBuffer.allocateDirect(8);

  /** The open queues, which keeps the memory that the kernel writes to reachable. */
  private static final Set<UringQueue> OPEN = ConcurrentHashMap.newKeySet();

  private final SystemCalls calls;
  private final int depth;

  /* The ring. */
  private int flags;
  private final int ring;
  private final int event;
  private final long ringsAddress;
  private final long ringsLength;
  private final long entriesAddress;
  private final long entriesLength;
  private final ByteBuffer rings;
  private final ByteBuffer entries;
  private final int submitTail;
  private final int submitMask;
  private final int completeHead;
  private final int completeTail;
  private final int completeMask;
  private final int completions;
  private int tail;
  private int unsent;
  private boolean eventArmed;

  /* A place for each read, the free places, and those of completed reads. */
  private final Place[] places;
  private final ArrayDeque<Place> free;
  private final ArrayDeque<Place> ready;
  private boolean closing;

  /* Shared with wakers. */
  private final Object wakeLock = new Object();
  private volatile boolean woken;
  private volatile boolean asleep;
  private boolean closed;

  /** A read that was added: what is left of it, and how it failed. */
  private static final class Place {
    private final int number;
    private @Nullable NativeFile file;

    @SuppressWarnings("UnusedVariable") // keeps the memory that the kernel writes to
    private @Nullable Window window;

    private long position;
    private long address;
    private int length;
    private int tag;
    private @Nullable IOException failure;

    Place(int number) {
      this.number = number;
    }
  }

  /** Opens a queue on a new ring. */
  static UringQueue open(SystemCalls calls, int depth, boolean oneThread) throws IOException {
    ReadQueue.checkDepth(depth);
    UringQueue queue = new UringQueue(calls, depth, oneThread);
    OPEN.add(queue);
    return queue;
  }

  private UringQueue(SystemCalls calls, int depth, boolean oneThread) throws IOException {
    this.calls = calls;
    this.depth = depth;
    ByteBuffer parameters = ByteBuffer.allocateDirect(PARAMETERS).order(ByteOrder.nativeOrder());
    ring = setUp(parameters, oneThread ? FOR_ONE_THREAD : FOR_MANY_THREADS);
    ringsLength =
        Math.max(
            parameters.getInt(40 + 24) + 4L * parameters.getInt(0),
            parameters.getInt(80 + 20) + (long) CQE * parameters.getInt(4));
    entriesLength = (long) SQE * parameters.getInt(0);
    ringsAddress = calls.mapRing(ring, ringsLength, OFFSET_RINGS);
    entriesAddress =
        ringsAddress < 0 ? ringsAddress : calls.mapRing(ring, entriesLength, OFFSET_ENTRIES);
    event = entriesAddress < 0 ? (int) entriesAddress : calls.eventCounter();
    if (event < 0) {
      release();
      throw new IOException(UringEngine.refused(-event));
    }
    rings = calls.view(ringsAddress, ringsLength);
    entries = calls.view(entriesAddress, entriesLength);
    submitTail = parameters.getInt(40 + 4);
    submitMask = rings.getInt(parameters.getInt(40 + 8));
    completeHead = parameters.getInt(80);
    completeTail = parameters.getInt(80 + 4);
    completeMask = rings.getInt(parameters.getInt(80 + 8));
    completions = parameters.getInt(80 + 20);
    tail = rings.getInt(submitTail);
    int array = parameters.getInt(40 + 24);
    for (int i = 0; i <= submitMask; i++) {
      rings.putInt(array + 4 * i, i);
    }
    places = new Place[depth];
    Arrays.setAll(places, Place::new);
    free = new ArrayDeque<>(Arrays.asList(places));
    ready = new ArrayDeque<>(depth);
  }

  /** Sets up a ring with the first flags that the kernel accepts. */
  private int setUp(ByteBuffer parameters, int[] candidates) throws IOException {
    int result = -Errno.EINVAL;
    for (int i = 0; i < candidates.length && result == -Errno.EINVAL; i++) {
      flags = candidates[i];
      parameters.put(0, new byte[PARAMETERS]).putInt(8, flags);
      result = calls.ringSetup(depth + 1, calls.address(parameters));
    }
    if (result < 0) {
      throw new IOException(UringEngine.refused(-result));
    }
    if ((parameters.getInt(20) & FEATURES_NEEDED) != FEATURES_NEEDED) {
      calls.close(result);
      throw new IOException(UringEngine.TOO_OLD);
    }
    return result;
  }

  /** Releases what the ring consists of, as far as it was set up. */
  private void release() {
    if (event >= 0) {
      calls.close(event);
    }
    if (ringsAddress >= 0) {
      calls.unmap(ringsAddress, ringsLength);
    }
    if (entriesAddress >= 0) {
      calls.unmap(entriesAddress, entriesLength);
    }
    calls.close(ring);
  }

  /** The flags that the kernel accepted. */
  int flags() {
    return flags;
  }

  @Override
  public int depth() {
    return depth;
  }

  @Override
  public int pending() {
    return depth - free.size();
  }

  @Override
  public void add(PageSource source, long first, int count, Window window, int tag) {
    checkOpen();
    ReadQueue.check(pending(), depth, first, count, tag);
    if (!(source instanceof NativeFile file)) {
      throw new IllegalArgumentException("not opened by this queue's engine: " + source);
    }
    long address = window.prepareNative(count * PageSource.PAGE, calls);
    Place place = free.pop();
    place.file = file;
    place.window = window;
    place.position = first * PageSource.PAGE;
    place.address = address;
    place.length = count * PageSource.PAGE;
    place.tag = tag;
    enqueue(file, place);
  }

  private void enqueue(NativeFile file, Place place) {
    enqueue(file.descriptor(), place.position, place.address, place.length, place.number);
  }

  /** Writes an entry, which the next system call submits. */
  private void enqueue(int descriptor, long position, long address, int length, long userData) {
    int at = (tail & submitMask) * SQE;
    entries.putLong(at, OPCODE_READ); // no flags, no priority; descriptor 0 for now
    entries.putInt(at + 4, descriptor);
    entries.putLong(at + 8, position);
    entries.putLong(at + 16, address);
    entries.putLong(at + 24, length); // no read flags
    entries.putLong(at + 32, userData);
    entries.putLong(at + 40, 0);
    entries.putLong(at + 48, 0);
    entries.putLong(at + 56, 0);
    tail++;
    unsent++;
  }

  @Override
  public void await(int atLeast, Ended ended) throws IOException {
    checkOpen();
    int wanted = Math.min(atLeast, pending());
    boolean waiting = true;
    do {
      if (ready.size() < wanted) {
        waiting = enterWaiting();
      } else if (unsent > 0 || underWay() > 0) {
        enter(0);
      }
      reap();
    } while (waiting && ready.size() < wanted);
    for (Place place = ready.poll(); place != null; place = ready.poll()) {
      IOException failure = place.failure;
      place.file = null;
      place.window = null;
      place.failure = null;
      free.push(place);
      ended.ended(place.tag, failure);
      if (unsent >= FLUSH) {
        enter(0);
      }
    }
  }

  @Override
  public void awaitWork() throws IOException {
    checkOpen();
    reap();
    boolean waiting = true;
    while (waiting && ready.isEmpty()) {
      waiting = enterWaiting();
      reap();
    }
  }

  /** The number of reads not completed. */
  private int underWay() {
    return pending() - ready.size();
  }

  /**
   * Submits the added reads and waits for a completion unless the owner was woken. Returns false if
   * it was.
   */
  private boolean enterWaiting() throws IOException {
    if (!eventArmed) {
      eventArmed = true;
      enqueue(event, -1, calls.address(EVENT_SINK), 8, EVENT);
    }
    asleep = true;
    boolean wait = !woken;
    try {
      enter(wait ? 1 : 0);
    } finally {
      asleep = false;
    }
    if (woken) {
      woken = false;
      return false;
    }
    return true;
  }

  /** Submits the added reads and waits for {@code complete} completions. */
  private void enter(int complete) throws IOException {
    INTS.setRelease(rings, submitTail, tail);
    int refusals = 0;
    while (true) {
      int result = calls.ringEnter(ring, unsent, complete, ENTER_GET_EVENTS);
      if (result >= 0) {
        unsent -= result;
        return;
      }
      if (result == -Errno.EINTR) {
        if (complete > 0 && woken) {
          return;
        }
      } else if (result == -Errno.EAGAIN || result == -Errno.EBUSY) {
        if (completed() > 0) {
          return; // reaping makes room
        }
        if (++refusals == MAX_REFUSALS) {
          throw new IOException("io_uring_enter failed: " + Errno.text(-result));
        }
        LockSupport.parkNanos(REFUSAL_NANOS); // the kernel is short of memory
      } else if (result == -Errno.EEXIST) {
        throw new IllegalStateException("this queue belongs to another thread");
      } else {
        throw new IOException("io_uring_enter failed: " + Errno.text(-result));
      }
    }
  }

  /** The number of completions not yet fetched. */
  private int completed() {
    return (int) INTS.getAcquire(rings, completeTail) - rings.getInt(completeHead);
  }

  /** Fetches all completions: finished reads become ready, short reads are continued. */
  private void reap() {
    int head = rings.getInt(completeHead);
    int end = (int) INTS.getAcquire(rings, completeTail);
    if (head == end) {
      return;
    }
    for (; head != end; head++) {
      int at = completions + (head & completeMask) * CQE;
      long userData = rings.getLong(at);
      int result = rings.getInt(at + 8);
      if (userData == EVENT) {
        eventArmed = false;
      } else {
        completed(places[(int) userData], result);
      }
    }
    INTS.setRelease(rings, completeHead, head);
  }

  private void completed(Place place, int result) {
    NativeFile file = place.file;
    if (file == null) {
      throw new IllegalStateException("the ring completed a read that it was not given");
    }
    try {
      int done = file.progress(result, place.length, place.position);
      if (done < place.length && !closing) {
        place.position += done;
        place.address += done;
        place.length -= done;
        enqueue(file, place);
        return;
      }
    } catch (IOException e) {
      place.failure = e;
    }
    ready.add(place);
  }

  @Override
  public void wake() {
    woken = true;
    if (asleep) {
      synchronized (wakeLock) {
        if (!closed) {
          calls.countEvent(event);
        }
      }
    }
  }

  private void checkOpen() {
    if (closing) {
      throw new IllegalStateException("the queue is closed");
    }
  }

  @Override
  public void close() throws IOException {
    if (closing) {
      return;
    }
    closing = true;
    boolean quiet = false;
    try {
      awaitSent();
      quiet = true;
    } finally {
      synchronized (wakeLock) {
        closed = true;
        release();
      }
      if (quiet) { // otherwise the kernel may still write: the windows stay reachable forever
        OPEN.remove(this);
      }
    }
  }

  /** Waits for submitted reads and drops the others. */
  private void awaitSent() throws IOException {
    int forgotten = 0;
    for (int i = 0; i < unsent; i++) {
      if (entries.getLong((tail - 1 - i & submitMask) * SQE + 32) != EVENT) {
        forgotten++;
      }
    }
    tail -= unsent;
    unsent = 0;
    reap();
    while (underWay() > forgotten) {
      enter(1);
      reap();
    }
  }
}
