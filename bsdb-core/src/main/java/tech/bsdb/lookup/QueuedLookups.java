package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.io.Extent;
import tech.bsdb.io.ReadQueue;

/**
 * Concurrent lookups over one read queue. When a lookup's read completes, its next read joins the
 * same queue and goes to the device with the next submission. Used by one thread at a time.
 *
 * @param <R> the type of a lookup's request
 */
final class QueuedLookups<R> implements Closeable {
  /** Receives finished lookups. */
  interface Answers<R> {
    /**
     * Called when a lookup has finished.
     *
     * @param number the number given to {@link #begin}
     * @param array holds the value, placed as the {@link Values} in use define; null if the key is
     *     absent or the lookup failed
     * @param failure why there is no answer, or null
     */
    void answer(R request, int number, byte @Nullable [] array, @Nullable Throwable failure);

    /**
     * Called when a record is too large to read through the queue.
     *
     * @return true if the callee takes over the lookup and answers it in another way; false to read
     *     the rest now, however long it takes
     */
    default boolean takesLarge(R request) {
      return false;
    }

    /** Returns the memory budget for a lookup's value, or null to use that of the values in use. */
    default @Nullable LongPredicate budget(R request) {
      return null;
    }
  }

  /** The largest record, in pages, read through the queue if the callee takes larger ones. */
  private static final int LARGE = 64;

  /**
   * Bytes that {@link #trim} leaves per lookup: two pages, enough for a record that straddles two.
   */
  private static final int KEEP = 8 << 10;

  private final int last;
  private final ReadQueue queue;

  /** By the number of a read: whether it goes through the queue rather than being made at once. */
  private final boolean[] queued;

  private final Answers<R> answers;
  private final List<Pending<R>> all = new ArrayList<>();
  private final ArrayDeque<Pending<R>> free = new ArrayDeque<>();
  private final Scratch scratch = new Scratch();
  private final ReadQueue.Ended ended = this::ended;
  private Values values;

  /** Whether the values currently use a lookup's own budget. */
  private boolean ownBudget;

  /** A lookup that waits for a read, reused by later lookups. */
  private static final class Pending<R> {
    final int tag;
    final Extent extent = new Extent();
    Locator locator;
    byte[] key = new byte[0];
    long place;
    int read;
    @Nullable R request;
    int number;

    Pending(int tag, Locator locator) {
      this.tag = tag;
      this.locator = locator;
    }
  }

  /**
   * Creates lookups over a queue of the engine that overlaps reads.
   *
   * @param oneThread whether only the calling thread will ever use it
   * @param values where the values go
   */
  QueuedLookups(
      Route route,
      EngineChoice.Chosen engines,
      boolean oneThread,
      Values values,
      Answers<R> answers)
      throws IOException {
    Locator any = route.any();
    this.last = any.reads() - 1;
    this.queued = new boolean[any.reads()];
    for (int read = 0; read <= last; read++) {
      queued[read] = engines.isQueued(any.file(read));
    }
    this.queue = engines.queue(oneThread);
    this.values = values;
    this.answers = answers;
  }

  /** Changes the destination of values; nothing may be pending. */
  void useValues(Values other) {
    values = other;
  }

  /** The number of unfinished lookups. */
  int pending() {
    return all.size() - free.size();
  }

  /** Whether a new lookup must wait for one to finish. */
  boolean isFull() {
    return pending() >= queue.depth();
  }

  /**
   * Starts the lookup of a key; requires {@link #isFull} to be false.
   *
   * @param locator the locator of the key
   * @param read the number of its first read, which is 0 unless the places of others are known
   * @param place the place of its first read
   */
  void begin(Locator locator, int read, long place, byte[] key, R request, int number) {
    Pending<R> lookup = free.poll();
    if (lookup == null) {
      lookup = new Pending<>(all.size(), locator);
      all.add(lookup);
    }
    lookup.locator = locator;
    lookup.key = key;
    lookup.place = place;
    lookup.read = read;
    lookup.request = request;
    lookup.number = number;
    try {
      proceed(lookup);
    } catch (IOException | RuntimeException | Error e) {
      end(lookup, null, e);
    }
  }

  /**
   * Submits the added reads and waits for {@code atLeast} reads, or for all if fewer are pending.
   */
  void await(int atLeast) throws IOException {
    queue.await(atLeast, ended);
  }

  /** Submits the added reads and waits until a read completes or {@link #wake} is called. */
  void awaitWork() throws IOException {
    queue.awaitWork();
  }

  /** Wakes a waiting owner. May be called from any thread. */
  void wake() {
    queue.wake();
  }

  private void ended(int tag, @Nullable IOException failure) {
    Pending<R> lookup = all.get(tag);
    if (failure != null) {
      end(lookup, null, failure);
      return;
    }
    try {
      lookup.extent.verify();
      if (isAnswered(lookup)) {
        return;
      }
      proceed(lookup);
    } catch (IOException | RuntimeException | Error e) {
      end(lookup, null, e);
    }
  }

  /** Makes the reads of a lookup until one goes through the queue or the lookup is answered. */
  private void proceed(Pending<R> lookup) throws IOException {
    do {
      lookup.locator.locate(lookup.read, lookup.place, lookup.extent);
      if (lookup.read == last && lookup.extent.count() > LARGE && isTakenOver(lookup)) {
        return;
      }
      if (queued[lookup.read]) {
        lookup.extent.addTo(queue, lookup.tag);
        return;
      }
      lookup.extent.read();
    } while (!isAnswered(lookup));
  }

  /** Answers a lookup whose final read is complete; after other reads, notes the next place. */
  private boolean isAnswered(Pending<R> lookup) throws IOException {
    Locator locator = lookup.locator;
    if (lookup.read < last) {
      lookup.place = locator.next(lookup.place, lookup.extent);
      lookup.read++;
      return false;
    }
    if (!locator.holds(lookup.place, lookup.extent) && isTakenOver(lookup)) {
      return true;
    }
    applyBudget(lookup);
    end(lookup, locator.value(lookup.place, lookup.key, lookup.extent, values, scratch), null);
    return true;
  }

  /** Hands a lookup of a large record over, if its request accepts it; keeps the windows small. */
  private boolean isTakenOver(Pending<R> lookup) {
    R request = lookup.request;
    if (request != null && answers.takesLarge(request)) {
      release(lookup);
      return true;
    }
    return false;
  }

  /** Makes the values use the lookup's own budget, if it has one. */
  private void applyBudget(Pending<R> lookup) {
    R request = lookup.request;
    LongPredicate budget = request == null ? null : answers.budget(request);
    if (budget != null || ownBudget) {
      values.use(budget);
      ownBudget = budget != null;
    }
  }

  private void end(Pending<R> lookup, byte @Nullable [] array, @Nullable Throwable failure) {
    R request = lookup.request;
    if (request != null) { // otherwise already finished: answering failed
      release(lookup);
      answers.answer(request, lookup.number, array, failure);
    }
  }

  /** Releases memory that only large records need; nothing may be pending. */
  void trim() {
    for (Pending<R> lookup : all) {
      lookup.extent.trim(KEEP);
    }
    scratch.trim(KEEP);
  }

  /** Drops all pending lookups after {@link #close} and passes on their requests. */
  void abandon(Consumer<R> left) {
    for (Pending<R> lookup : all) {
      R request = lookup.request;
      if (request != null) {
        release(lookup);
        left.accept(request);
      }
    }
  }

  private void release(Pending<R> lookup) {
    lookup.request = null;
    free.push(lookup);
  }

  /** Waits for submitted reads and closes the queue. */
  @Override
  public void close() throws IOException {
    try {
      queue.close();
    } finally {
      scratch.close();
    }
  }
}
