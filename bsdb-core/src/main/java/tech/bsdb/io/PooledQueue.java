package tech.bsdb.io;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue whose reads overlap because several threads perform them, one read per thread at a time.
 */
final class PooledQueue implements ReadQueue {
  private final ReadThreads threads;
  private final int depth;

  /* Used by the owner only. */
  private final List<Read> unsent = new ArrayList<>();
  private int sent;

  /* Guarded by the lock. */
  private final Object lock = new Object();
  private final ArrayDeque<Read> ended = new ArrayDeque<>();
  private int running;
  private boolean closed;
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

    /** Whether a thread may take it; guarded by the lock. */
    private boolean wanted;

    Read(PageSource source, long first, int count, Window window, int tag) {
      this.source = source;
      this.first = first;
      this.count = count;
      this.window = window;
      this.tag = tag;
    }

    @Override
    public void run() {
      synchronized (lock) {
        if (closed || !wanted) {
          return; // nobody awaits it
        }
        wanted = false;
        running++;
      }
      try {
        source.read(first, count, window);
      } catch (IOException e) {
        failure = e;
      } catch (Throwable e) { // the thread that awaits the read must see it
        failure = new IOException("page " + first + " cannot be read: " + e, e);
      } finally {
        synchronized (lock) {
          running--;
          ended.add(this);
          if (ended.size() >= awaited || closed) {
            lock.notifyAll();
          }
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
    return unsent.size() + sent;
  }

  @Override
  public void add(PageSource source, long first, int count, Window window, int tag) {
    checkOpen();
    ReadQueue.check(pending(), depth, first, count, tag);
    unsent.add(new Read(source, first, count, window, tag));
  }

  @Override
  public void await(int atLeast, Ended handler) throws IOException {
    checkOpen();
    send();
    awaitEnded(Math.min(atLeast, pending()));
    for (Read read = next(); read != null; read = next()) {
      sent--;
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
    int all = unsent.size();
    synchronized (lock) {
      unsent.forEach(read -> read.wanted = true);
    }
    try {
      threads.executeAll(unsent);
      unsent.clear();
    } catch (OutOfMemoryError e) {
      synchronized (lock) {
        unsent.removeIf(read -> !read.wanted); // a thread has taken it after all
        unsent.forEach(read -> read.wanted = false);
      }
      threads.getQueue().removeAll(unsent);
      if (!unsent.isEmpty()) {
        throw new IOException("cannot start a reader thread: " + e.getMessage(), e);
      }
    } finally {
      sent += all - unsent.size();
    }
  }

  /**
   * Waits until {@code atLeast} reads have completed that were not handed over, or the owner is
   * woken.
   */
  private void awaitEnded(int atLeast) {
    synchronized (lock) {
      awaited = atLeast;
      Uninterrupted.until(() -> ended.size() >= atLeast || woken, lock::wait);
      awaited = Integer.MAX_VALUE;
      if (ended.size() < atLeast) {
        woken = false;
      }
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
    synchronized (lock) {
      closed = true;
      Uninterrupted.until(() -> running == 0, lock::wait);
    }
  }
}
