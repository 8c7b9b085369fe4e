package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A queue of concurrent reads, handed over in the order in which they complete.
 *
 * <pre>{@code
 * queue.add(source, 17, 1, window, 0);
 * while (queue.pending() > 0) {
 *   queue.await(1, (tag, failure) -> ...); // may add the next
 * }
 * }</pre>
 *
 * <p>Used by one thread at a time, except for {@link #wake}. Passing it to another thread requires
 * a happens-before edge, such as a lock. Interrupting a waiting thread does not end the wait; the
 * interrupt status is preserved. After {@link #close}, every method but {@link #wake} and {@link
 * #close} throws an {@link IllegalStateException}.
 */
public interface ReadQueue extends Closeable {
  /** The maximum depth of a queue. */
  int MAX_DEPTH = 4096;

  /** Receives each completed read. */
  @FunctionalInterface
  interface Ended {
    /**
     * Called when a read has completed or failed. The pages are in the window that it was added
     * with, which belongs to the caller again. May add more reads. An exception thrown here
     * propagates from {@link ReadQueue#await}; the next call hands over the remaining completed
     * reads.
     *
     * @param tag the tag that the read was added with
     * @param failure why the read failed, or null if it succeeded
     */
    void ended(int tag, @Nullable IOException failure);
  }

  /** The maximum number of pending reads. */
  int depth();

  /** The number of reads added and not yet handed over. */
  int pending();

  /**
   * Adds a read, which {@link #await} submits.
   *
   * @param source the pages, opened by this queue's engine; must stay open until the read has
   *     completed
   * @param first the first page
   * @param count 1 to {@link PageSource#MAX_RUN}
   * @param window where to show them; belongs to the queue until the read has completed
   * @param tag 0 or more; returned when the read completes
   * @throws IllegalStateException if {@link #depth} reads are pending
   */
  void add(PageSource source, long first, int count, Window window, int tag);

  /**
   * Submits the added reads, waits until {@code atLeast} reads (or all pending ones, if fewer) have
   * completed or {@link #wake} is called, and hands over all completed reads.
   *
   * @param atLeast how many to wait for; 0 to hand over completed reads without waiting
   * @param ended receives each of them
   * @throws IOException if the system refuses to wait; the reads stay pending
   */
  void await(int atLeast, Ended ended) throws IOException;

  /**
   * Submits the added reads and waits until a read has completed, which {@link #await} then hands
   * over, or {@link #wake} is called. With nothing pending, only {@link #wake} ends the wait; an
   * I/O thread waits for work this way.
   *
   * @throws IOException if the system refuses to wait
   */
  void awaitWork() throws IOException;

  /**
   * Makes the owner's waiting {@link #await} or {@link #awaitWork}, or the next one that would
   * wait, return soon. Several calls may count as one. May be called from any thread; does nothing
   * after {@link #close}.
   */
  void wake();

  /**
   * Waits until no read is in flight, hands nothing over, and releases everything. A second call
   * does nothing.
   */
  @Override
  void close() throws IOException;

  /** Checks the arguments of {@link #add}. */
  static void check(int pending, int depth, long first, int count, int tag) {
    if (pending >= depth) {
      throw new IllegalStateException("all " + depth + " reads are pending");
    }
    if (count < 1 || count > PageSource.MAX_RUN || first < 0 || tag < 0) {
      throw new IllegalArgumentException(
          "first page " + first + ", page count " + count + ", tag " + tag);
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
