package tech.bsdb.io;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue whose reads overlap because several threads perform them, one read per thread at a time.
 */
final class PooledQueue extends HandoverQueue<PooledQueue.PooledRead> {
  private final ReadThreads threads;

  /**
   * Creates a queue.
   *
   * @param threads perform the reads; nobody shuts them down
   */
  PooledQueue(int depth, ReadThreads threads) {
    super(depth);
    this.threads = threads;
  }

  /** One read: performed by a thread of the pool, then handed over. */
  final class PooledRead extends HandoverQueue.Read implements Runnable {
    private final PageSource source;
    private @Nullable IOException failure;

    /** Whether a thread may take it; guarded by the lock. */
    private boolean wanted;

    private PooledRead(PageSource source, long first, int count, Window window, int tag) {
      super(first, count, window, tag);
      this.source = source;
    }

    @Override
    public void run() {
      synchronized (lock) {
        if (!wanted || !begin()) {
          return; // nobody awaits it
        }
        wanted = false;
      }
      try {
        source.read(first, count, window);
      } catch (IOException e) {
        failure = e;
      } catch (Throwable e) { // the thread that awaits the read must see it
        failure = new IOException("page " + first + " cannot be read: " + e, e);
      } finally {
        end(List.of(this));
      }
    }

    @Override
    @Nullable IOException show() {
      return failure;
    }
  }

  @Override
  PooledRead read(PageSource source, long first, int count, Window window, int tag) {
    return new PooledRead(source, first, count, window, tag);
  }

  @Override
  void send(List<PooledRead> reads) throws IOException {
    synchronized (lock) {
      reads.forEach(read -> read.wanted = true);
    }
    try {
      threads.executeAll(reads);
      reads.clear();
    } catch (OutOfMemoryError e) {
      synchronized (lock) {
        reads.removeIf(read -> !read.wanted); // a thread has taken it after all
        reads.forEach(read -> read.wanted = false);
      }
      threads.getQueue().removeAll(reads);
      if (!reads.isEmpty()) {
        throw new IOException("cannot start a reader thread: " + e.getMessage(), e);
      }
    }
  }
}
