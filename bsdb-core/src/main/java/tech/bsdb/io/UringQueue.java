package tech.bsdb.io;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
  private final int flags;

  /* The ring. */
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

  /* A place for each read, and the numbers of the free places and of those with completed reads. */
  private final @Nullable NativeFile[] files;
  private final @Nullable Window[] windows;
  private final @Nullable IOException[] failures;
  private final long[] positions;
  private final long[] addresses;
  private final int[] lengths;
  private final int[] tags;
  private final int[] free;
  private final int[] ready;
  private int freeCount;
  private int readyFrom;
  private int readyCount;
  private boolean closing;

  /* Shared with wakers. */
  private final Object wakeLock = new Object();
  private volatile boolean woken;
  private volatile boolean asleep;
  private boolean closed;

  /** Opens a queue on a new ring. */
  static UringQueue open(SystemCalls calls, int depth, boolean oneThread) throws IOException {
    ReadQueue.checkDepth(depth);
    ByteBuffer parameters = ByteBuffer.allocateDirect(PARAMETERS).order(ByteOrder.nativeOrder());
    int ring = -Errno.EINVAL;
    int flags = 0;
    for (int candidate : oneThread ? FOR_ONE_THREAD : FOR_MANY_THREADS) {
      for (int i = 0; i < PARAMETERS; i += 4) {
        parameters.putInt(i, 0);
      }
      parameters.putInt(8, candidate);
      flags = candidate;
      ring = calls.ringSetup(depth + 1, calls.address(parameters));
      if (ring != -Errno.EINVAL) {
        break;
      }
    }
    if (ring < 0) {
      throw new IOException(UringEngine.refused(-ring));
    }
    if ((parameters.getInt(20) & FEATURES_NEEDED) != FEATURES_NEEDED) {
      calls.close(ring);
      throw new IOException(UringEngine.TOO_OLD);
    }
    long ringsLength =
        Math.max(
            parameters.getInt(40 + 24) + 4L * parameters.getInt(0),
            parameters.getInt(80 + 20) + (long) CQE * parameters.getInt(4));
    long entriesLength = (long) SQE * parameters.getInt(0);
    long rings = calls.mapRing(ring, ringsLength, OFFSET_RINGS);
    long entries = rings < 0 ? rings : calls.mapRing(ring, entriesLength, OFFSET_ENTRIES);
    int event = entries < 0 ? (int) entries : calls.eventCounter();
    if (event < 0) {
      if (entries > 0) {
        calls.unmap(entries, entriesLength);
      }
      if (rings > 0) {
        calls.unmap(rings, ringsLength);
      }
      calls.close(ring);
      throw new IOException(UringEngine.refused(-event));
    }
    UringQueue queue =
        new UringQueue(
            calls,
            depth,
            flags,
            ring,
            event,
            rings,
            ringsLength,
            entries,
            entriesLength,
            parameters);
    OPEN.add(queue);
    return queue;
  }

  private UringQueue(
      SystemCalls calls,
      int depth,
      int flags,
      int ring,
      int event,
      long ringsAddress,
      long ringsLength,
      long entriesAddress,
      long entriesLength,
      ByteBuffer parameters) {
    this.calls = calls;
    this.depth = depth;
    this.flags = flags;
    this.ring = ring;
    this.event = event;
    this.ringsAddress = ringsAddress;
    this.ringsLength = ringsLength;
    this.entriesAddress = entriesAddress;
    this.entriesLength = entriesLength;
    this.rings = calls.view(ringsAddress, ringsLength);
    this.entries = calls.view(entriesAddress, entriesLength);
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
    files = new NativeFile[depth];
    windows = new Window[depth];
    failures = new IOException[depth];
    positions = new long[depth];
    addresses = new long[depth];
    lengths = new int[depth];
    tags = new int[depth];
    ready = new int[depth];
    free = new int[depth];
    for (int i = 0; i < depth; i++) {
      free[i] = depth - 1 - i;
    }
    freeCount = depth;
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
    return depth - freeCount;
  }

  @Override
  public void add(PageSource source, long first, int count, Window window, int tag) {
    checkOpen();
    ReadQueue.check(pending(), depth, first, count, tag);
    if (!(source instanceof NativeFile file)) {
      throw new IllegalArgumentException("not opened by this queue's engine: " + source);
    }
    int length = count * PageSource.PAGE;
    long address = window.prepareNative(length, calls);
    int place = free[--freeCount];
    files[place] = file;
    windows[place] = window;
    positions[place] = first * PageSource.PAGE;
    addresses[place] = address;
    lengths[place] = length;
    tags[place] = tag;
    enqueue(file.descriptor(), first * PageSource.PAGE, address, length, place);
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
      if (readyCount < wanted) {
        waiting = enterWaiting();
      } else if (unsent > 0 || underWay() > 0) {
        enter(0);
      }
      reap();
    } while (waiting && readyCount < wanted);
    while (readyCount > 0) {
      int place = ready[readyFrom];
      readyFrom = readyFrom + 1 == depth ? 0 : readyFrom + 1;
      readyCount--;
      IOException failure = failures[place];
      files[place] = null;
      windows[place] = null;
      failures[place] = null;
      free[freeCount++] = place;
      ended.ended(tags[place], failure);
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
    while (waiting && readyCount == 0) {
      waiting = enterWaiting();
      reap();
    }
  }

  /** The number of reads not completed. */
  private int underWay() {
    return depth - freeCount - readyCount;
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
        completed((int) userData, result);
      }
    }
    INTS.setRelease(rings, completeHead, head);
  }

  private void completed(int place, int result) {
    NativeFile file = files[place];
    if (file == null) {
      throw new IllegalStateException("the ring completed a read that it was not given");
    }
    int length = lengths[place];
    if (result != length) {
      try {
        int done = file.progress(result, length, positions[place]);
        if (done < length && !closing) {
          positions[place] += done;
          addresses[place] += done;
          lengths[place] = length - done;
          enqueue(file.descriptor(), positions[place], addresses[place], lengths[place], place);
          return;
        }
      } catch (IOException e) {
        failures[place] = e;
      }
    }
    int at = readyFrom + readyCount;
    ready[at < depth ? at : at - depth] = place;
    readyCount++;
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
        calls.close(event);
      }
      calls.unmap(ringsAddress, ringsLength);
      calls.unmap(entriesAddress, entriesLength);
      calls.close(ring);
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
