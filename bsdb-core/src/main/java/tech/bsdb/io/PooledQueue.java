package tech.bsdb.io;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A queue whose reads overlap because several threads perform them, one read per thread at a time.
 */
final class PooledQueue implements ReadQueue {
  private final ReadThreads threads;
  private final int depth;

  /* Used by the owner only. */
  private final Read[] free;
  private final Read[] unsent;
  private final Read[] ready;
  private int freeCount;
  private int unsentCount;
  private int readyFrom;
  private int readyTo;

  /* Guarded by the lock. */
  private final Object lock = new Object();
  private final Read[] ended;
  private int endedCount;
  private int underWay;
  private int awaited = Integer.MAX_VALUE;
  private boolean woken;
  private boolean closed;

  PooledQueue(int depth, ReadThreads threads) {
    this.depth = ReadQueue.checkDepth(depth);
    this.threads = threads;
    free = new Read[depth];
    unsent = new Read[depth];
    ready = new Read[depth];
    ended = new Read[depth];
    for (int i = 0; i < depth; i++) {
      free[i] = new Read();
    }
    freeCount = depth;
    threads.join();
  }

  /** One read: performed by a pool thread, then handed over. */
  private final class Read implements Runnable {
    private @Nullable PageSource source;
    private @Nullable Window window;
    private long first;
    private int count;
    private int tag;
    private @Nullable IOException failure;

    @Override
    public void run() {
      try {
        if (source != null && window != null) {
          source.read(first, count, window);
        }
      } catch (IOException e) {
        failure = e;
      } catch (Throwable e) { // the thread that awaits the read must see it
        failure = new IOException("page " + first + " cannot be read: " + e, e);
      }
      synchronized (lock) {
        ended[endedCount++] = this;
        underWay--;
        if (endedCount >= awaited || underWay == 0) {
          lock.notifyAll();
        }
      }
    }
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
    Read read = free[--freeCount];
    read.source = source;
    read.first = first;
    read.count = count;
    read.window = window;
    read.tag = tag;
    unsent[unsentCount++] = read;
  }

  @Override
  public void await(int atLeast, Ended handler) throws IOException {
    checkOpen();
    send();
    take(Math.min(atLeast, pending()));
    while (readyFrom < readyTo) {
      Read read = ready[readyFrom++];
      IOException failure = read.failure;
      read.source = null;
      read.window = null;
      read.failure = null;
      free[freeCount++] = read;
      handler.ended(read.tag, failure);
    }
  }

  private void send() throws IOException {
    if (unsentCount == 0) {
      return;
    }
    synchronized (lock) {
      underWay += unsentCount;
    }
    try {
      threads.execute(unsent, unsentCount);
    } catch (OutOfMemoryError e) {
      synchronized (lock) {
        underWay -= unsentCount;
      }
      throw new IOException("cannot start a reader thread: " + e.getMessage(), e);
    }
    unsentCount = 0;
  }

  /**
   * Waits for {@code atLeast} reads, then appends all completed ones to those left over from
   * before.
   */
  private void take(int atLeast) {
    int left = readyTo - readyFrom;
    System.arraycopy(ready, readyFrom, ready, 0, left);
    readyFrom = 0;
    synchronized (lock) {
      await(atLeast - left);
      System.arraycopy(ended, 0, ready, left, endedCount);
      readyTo = left + endedCount;
      endedCount = 0;
    }
  }

  /** Waits, holding the lock, until {@code atLeast} reads have completed or the owner is woken. */
  private void await(int atLeast) {
    boolean interrupted = false;
    awaited = atLeast;
    while (endedCount < atLeast && !woken) {
      try {
        lock.wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    awaited = Integer.MAX_VALUE;
    if (endedCount < atLeast) {
      woken = false;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void awaitWork() throws IOException {
    checkOpen();
    send();
    if (readyFrom == readyTo) {
      synchronized (lock) {
        await(1);
      }
    }
  }

  @Override
  public void wake() {
    synchronized (lock) {
      woken = true;
      lock.notifyAll();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the queue is closed");
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    boolean interrupted = false;
    synchronized (lock) {
      while (underWay > 0) {
        try {
          lock.wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    threads.leave();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
