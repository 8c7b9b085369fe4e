package tech.bsdb.io;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A queue that performs its reads one after the other when they are awaited, for engines whose
 * pages are in memory. {@link #await} performs all reads that are pending when it is called,
 * regardless of {@code atLeast}.
 */
final class ImmediateQueue implements ReadQueue {
  private final int depth;
  private final @Nullable PageSource[] sources;
  private final @Nullable Window[] windows;
  private final long[] firsts;
  private final int[] counts;
  private final int[] tags;
  private int next;
  private int pending;
  private final Object lock = new Object();
  private boolean woken;
  private boolean closed;

  ImmediateQueue(int depth) {
    this.depth = ReadQueue.checkDepth(depth);
    sources = new PageSource[depth];
    windows = new Window[depth];
    firsts = new long[depth];
    counts = new int[depth];
    tags = new int[depth];
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
    int at = (next + pending) % depth;
    sources[at] = source;
    windows[at] = window;
    firsts[at] = first;
    counts[at] = count;
    tags[at] = tag;
    pending++;
  }

  @Override
  public void await(int atLeast, Ended ended) {
    checkOpen();
    for (int left = pending; left > 0 && pending > 0; left--) {
      int at = next;
      next = (at + 1) % depth;
      pending--;
      PageSource source = sources[at];
      Window window = windows[at];
      sources[at] = null;
      windows[at] = null;
      ended.ended(tags[at], read(source, firsts[at], counts[at], window));
    }
  }

  private static @Nullable IOException read(
      @Nullable PageSource source, long first, int count, @Nullable Window window) {
    if (source == null || window == null) {
      throw new IllegalStateException("nothing was added");
    }
    try {
      source.read(first, count, window);
      return null;
    } catch (IOException e) {
      return e;
    } catch (RuntimeException e) {
      return new IOException("page " + first + " cannot be read: " + e, e);
    }
  }

  @Override
  public void awaitWork() {
    checkOpen();
    boolean interrupted = false;
    synchronized (lock) {
      while (pending == 0 && !woken) {
        try {
          lock.wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      woken = false;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
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
    closed = true;
    pending = 0;
  }
}
