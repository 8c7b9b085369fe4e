package tech.bsdb.io;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue whose reads end on other threads, which hand them over to the owner.
 *
 * @param <R> its reads
 */
abstract class HandoverQueue<R extends HandoverQueue.Read> implements ReadQueue {
  private final int depth;

  /* Used by the owner only. */
  private final List<R> unsent = new ArrayList<>();
  private int sent;

  /* Guarded by the lock. */
  final Object lock = new Object();
  private final ArrayDeque<R> ended = new ArrayDeque<>();
  private int running;
  private boolean closed;
  private int awaited = Integer.MAX_VALUE;
  private boolean woken;

  HandoverQueue(int depth) {
    this.depth = ReadQueue.checkDepth(depth);
  }

  /** One read. */
  abstract static class Read {
    final long first;
    final int count;
    final Window window;
    final int tag;

    Read(long first, int count, Window window, int tag) {
      this.first = first;
      this.count = count;
      this.window = window;
      this.tag = tag;
    }

    /** Shows the pages in the window, if they are not there yet, or returns why it cannot. */
    abstract @Nullable IOException show();
  }

  /** Creates a read. */
  abstract R read(PageSource source, long first, int count, Window window, int tag);

  /**
   * Starts reads and removes them from the list. Each must {@link #end}; others stay pending.
   *
   * @throws IOException if the system refuses
   */
  abstract void send(List<R> reads) throws IOException;

  /** Counts work under way, for which {@link #close} waits; false if the queue is closed. */
  final boolean begin() {
    synchronized (lock) {
      running += closed ? 0 : 1;
      return !closed;
    }
  }

  /** Takes note that work under way has ended, and with it these reads. */
  final void end(List<R> reads) {
    synchronized (lock) {
      running--;
      ended.addAll(reads);
      if (ended.size() >= awaited || closed) {
        lock.notifyAll();
      }
    }
  }

  @Override
  public final int depth() {
    return depth;
  }

  @Override
  public final int pending() {
    return unsent.size() + sent;
  }

  @Override
  public final void add(PageSource source, long first, int count, Window window, int tag) {
    checkOpen();
    ReadQueue.check(pending(), depth, first, count, tag);
    unsent.add(read(source, first, count, window, tag));
  }

  @Override
  public final void await(int atLeast, Ended handler) throws IOException {
    checkOpen();
    send();
    awaitEnded(Math.min(atLeast, pending()));
    for (R read = next(); read != null; read = next()) {
      sent--;
      handler.ended(read.tag, read.show());
    }
  }

  private @Nullable R next() {
    synchronized (lock) {
      return ended.poll();
    }
  }

  private void send() throws IOException {
    if (!unsent.isEmpty()) {
      int all = unsent.size();
      try {
        send(unsent);
      } finally {
        sent += all - unsent.size();
      }
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
  public final void awaitWork() throws IOException {
    checkOpen();
    send();
    awaitEnded(1);
  }

  @Override
  public final void wake() {
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
  public final void close() {
    synchronized (lock) {
      closed = true;
      Uninterrupted.until(() -> running == 0, lock::wait);
    }
  }
}
