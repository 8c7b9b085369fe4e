package tech.bsdb.io;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A queue whose reads overlap because several threads perform them, one read per thread at a time.
 */
final class PooledQueue implements ReadQueue {
  private final ReadThreads threads;
  private final int depth;

  /* Used by the owner only. */
  private final List<Read> unsent = new ArrayList<>();
  private int pending;
  private boolean closed;

  /* Guarded by the lock. */
  private final Object lock = new Object();
  private final ArrayDeque<Read> ended = new ArrayDeque<>();
  private int underWay;
  private int awaited = Integer.MAX_VALUE;
  private boolean woken;

  /**
   * Creates a queue.
   *
   * @param threads perform the reads; nobody shuts them down
   */
  PooledQueue(int depth, ReadThreads threads) {
    this.depth = ReadQueue.checkDepth(depth);
    this.threads = threads;
  }

  /** One read: performed by a thread of the pool, then handed over. */
  private final class Read implements Runnable {
    private final PageSource source;
    private final long first;
    private final int count;
    private final Window window;
    private final int tag;
    private @Nullable IOException failure;

    Read(PageSource source, long first, int count, Window window, int tag) {
      this.source = source;
      this.first = first;
      this.count = count;
      this.window = window;
      this.tag = tag;
    }

    @Override
    public void run() {
      try {
        source.read(first, count, window);
      } catch (IOException e) {
        failure = e;
      } catch (Throwable e) { // the thread that awaits the read must see it
        failure = new IOException("page " + first + " cannot be read: " + e, e);
      }
      synchronized (lock) {
        ended.add(this);
        underWay--;
        if (ended.size() >= awaited || underWay == 0) {
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
    return pending;
  }

  @Override
  public void add(PageSource source, long first, int count, Window window, int tag) {
    checkOpen();
    ReadQueue.check(pending, depth, first, count, tag);
    unsent.add(new Read(source, first, count, window, tag));
    pending++;
  }

  @Override
  public void await(int atLeast, Ended handler) throws IOException {
    checkOpen();
    send();
    awaitEnded(Math.min(atLeast, pending));
    for (Read read = next(); read != null; read = next()) {
      pending--;
      handler.ended(read.tag, read.failure);
    }
  }

  private @Nullable Read next() {
    synchronized (lock) {
      return ended.poll();
    }
  }

  private void send() throws IOException {
    if (unsent.isEmpty()) {
      return;
    }
    synchronized (lock) {
      underWay += unsent.size();
    }
    try {
      threads.executeAll(unsent);
    } catch (OutOfMemoryError e) {
      unsent.removeIf(read -> !threads.getQueue().remove(read)); // what is being read after all
      if (!unsent.isEmpty()) {
        synchronized (lock) {
          underWay -= unsent.size();
        }
        throw new IOException("cannot start a reader thread: " + e.getMessage(), e);
      }
    }
    unsent.clear();
  }

  /**
   * Waits until {@code atLeast} reads have completed that were not handed over, or the owner is
   * woken.
   */
  private void awaitEnded(int atLeast) {
    synchronized (lock) {
      awaited = atLeast;
      waitUntil(() -> ended.size() >= atLeast || woken);
      awaited = Integer.MAX_VALUE;
      if (ended.size() < atLeast) {
        woken = false;
      }
    }
  }

  /** Waits, holding the lock; an interrupt does not end that, but stays. */
  private void waitUntil(BooleanSupplier met) {
    boolean interrupted = false;
    while (!met.getAsBoolean()) {
      try {
        lock.wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void awaitWork() throws IOException {
    checkOpen();
    send();
    awaitEnded(1);
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
    closed = true;
    synchronized (lock) {
      waitUntil(() -> underWay == 0);
    }
  }
}
