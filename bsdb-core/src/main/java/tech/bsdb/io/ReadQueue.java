package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads that are under way at the same time: they are added, and handed over in the order in which
 * they end.
 *
 * <pre>{@code
 * queue.add(source, 17, 1, window, 0);
 * while (queue.pending() > 0) {
 *   queue.await(1, (tag, failure) -> ...); // may add the next
 * }
 * }</pre>
 *
 * <p>Used by one thread at a time, but for {@link #wake}; whoever lends it to another thread sees
 * to it that the other sees all that happened before, as a lock does. A Java interrupt of a waiting
 * thread means nothing to it and is preserved. After {@link #close}, everything but {@link #wake}
 * and {@link #close} is an {@link IllegalStateException}.
 */
public interface ReadQueue extends Closeable {
  /** The most reads that a queue can be made for. */
  int MAX_DEPTH = 4096;

  /** Hears of each read that ended. */
  @FunctionalInterface
  interface Ended {
    /**
     * A read has ended: its pages are in the window that it was added with, which is the caller's
     * again, or it failed. More reads may be added meanwhile. What this throws comes out of {@link
     * ReadQueue#await}; other reads that ended are handed over at the next.
     *
     * @param tag what the read was added with
     * @param failure why there is nothing in the window, or null
     */
    void ended(int tag, @Nullable IOException failure);
  }

  /** The most reads that may be pending. */
  int depth();

  /** Reads that were added and have not been handed over. */
  int pending();

  /**
   * Adds a read; {@link #await} sends it.
   *
   * @param source the pages, which the engine of this queue opened; they stay open until the read
   *     has ended
   * @param first the first page
   * @param count 1 to {@link PageSource#MAX_RUN}
   * @param window where to show them; the queue's own until the read has ended
   * @param tag 0 or more: given back when it has ended
   * @throws IllegalStateException if {@link #depth} reads are pending
   */
  void add(PageSource source, long first, int count, Window window, int tag);

  /**
   * Sends what was added, waits until {@code atLeast} reads (or all that are pending, if these are
   * fewer) have ended or {@link #wake} was called, and hands over all that have ended.
   *
   * @param atLeast how many to wait for; 0 to hand over what has ended, without waiting
   * @param ended hears of each
   * @throws IOException if the system refuses to wait; the reads stay pending
   */
  void await(int atLeast, Ended ended) throws IOException;

  /**
   * Sends what was added and waits until a read has ended, which {@link #await} then hands over, or
   * {@link #wake} was called. With nothing pending, only {@link #wake} ends it: so an I/O thread
   * waits for work.
   *
   * @throws IOException if the system refuses to wait
   */
  void awaitWork() throws IOException;

  /**
   * Makes the owner's {@link #await} or {@link #awaitWork} that waits now, or the next that would
   * wait, return soon. Several calls may count as one. From any thread; after {@link #close} it
   * does nothing.
   */
  void wake();

  /**
   * Waits until nothing is under way, without handing it over, and releases everything; a second
   * call does nothing.
   */
  @Override
  void close() throws IOException;

  /** Checks the arguments of {@link #add}. */
  static void check(int pending, int depth, long first, int count, int tag) {
    if (pending >= depth) {
      throw new IllegalStateException("all " + depth + " reads are pending");
    }
    if (count < 1 || count > PageSource.MAX_RUN || first < 0 || tag < 0) {
      throw new IllegalArgumentException("pages " + first + ", " + count + " of them, tag " + tag);
    }
  }

  /** Checks the depth of a new queue. */
  static int checkDepth(int depth) {
    if (depth < 1 || depth > MAX_DEPTH) {
      throw new IllegalArgumentException("depth " + depth + ", not 1 to " + MAX_DEPTH);
    }
    return depth;
  }
}
