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
import tech.bsdb.io.ReadQueue;

/**
 * Concurrent lookups over one read queue. When a lookup's index read completes, its data read joins
 * the same queue and goes to the device with the next submission. Used by one thread at a time.
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

  private final LookupPath path;
  private final ReadQueue queue;
  private final boolean indexQueued;
  private final boolean recordsQueued;
  private final Answers<R> answers;
  private final List<PendingLookup<R>> all = new ArrayList<>();
  private final ArrayDeque<PendingLookup<R>> free = new ArrayDeque<>();
  private final Scratch scratch = new Scratch();
  private final ReadQueue.Ended ended = this::ended;
  private Values values;

  /** Whether the values currently use a lookup's own budget. */
  private boolean ownBudget;

  /**
   * Creates lookups over a queue, which {@link #close} closes.
   *
   * @param indexQueued whether the index is read through the queue rather than at once
   * @param recordsQueued the same for the records
   * @param values where the values go
   */
  QueuedLookups(
      LookupPath path,
      ReadQueue queue,
      boolean indexQueued,
      boolean recordsQueued,
      Values values,
      Answers<R> answers) {
    this.path = path;
    this.queue = queue;
    this.indexQueued = indexQueued;
    this.recordsQueued = recordsQueued;
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

  /** Starts the lookup of a key whose slot is known; requires {@link #isFull} to be false. */
  void begin(long slot, byte[] key, R request, int number) {
    PendingLookup<R> lookup = free.poll();
    if (lookup == null) {
      lookup = new PendingLookup<>(all.size());
      all.add(lookup);
    }
    lookup.key = key;
    lookup.slot = slot;
    lookup.request = request;
    lookup.number = number;
    lookup.atRecord = false;
    try {
      path.index().locate(slot, lookup.extent);
      if (indexQueued) {
        lookup.extent.addTo(queue, lookup.tag);
      } else {
        lookup.extent.read();
        atIndex(lookup);
      }
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
    PendingLookup<R> lookup = all.get(tag);
    if (failure != null) {
      end(lookup, null, failure);
      return;
    }
    try {
      lookup.extent.verify();
      if (lookup.atRecord) {
        atRecord(lookup);
      } else {
        atIndex(lookup);
      }
    } catch (IOException | RuntimeException | Error e) {
      end(lookup, null, e);
    }
  }

  private void atIndex(PendingLookup<R> lookup) throws IOException {
    if (path.isApproximate()) {
      applyBudget(lookup);
      end(lookup, path.shortValue(lookup.slot, lookup.extent, values), null);
      return;
    }
    lookup.address = path.address(lookup.slot, lookup.extent);
    path.toRecord(lookup.address, lookup.extent);
    lookup.atRecord = true;
    R request = lookup.request;
    if (lookup.extent.count() > LARGE && request != null && answers.takesLarge(request)) {
      release(lookup); // keeps the queue's windows small
      return;
    }
    if (recordsQueued) {
      lookup.extent.addTo(queue, lookup.tag);
    } else {
      lookup.extent.read();
      atRecord(lookup);
    }
  }

  private void atRecord(PendingLookup<R> lookup) throws IOException {
    R request = lookup.request;
    if (request != null
        && !path.holdsRecord(lookup.address, lookup.extent)
        && answers.takesLarge(request)) {
      release(lookup);
      return;
    }
    applyBudget(lookup);
    end(lookup, path.record(lookup.address, lookup.key, lookup.extent, values, scratch), null);
  }

  /** Makes the values use the lookup's own budget, if it has one. */
  private void applyBudget(PendingLookup<R> lookup) {
    R request = lookup.request;
    LongPredicate budget = request == null ? null : answers.budget(request);
    if (budget != null || ownBudget) {
      values.use(budget);
      ownBudget = budget != null;
    }
  }

  private void end(PendingLookup<R> lookup, byte @Nullable [] array, @Nullable Throwable failure) {
    R request = lookup.request;
    if (request != null) { // otherwise already finished: answering failed
      release(lookup);
      answers.answer(request, lookup.number, array, failure);
    }
  }

  /** Releases memory that only large records need; nothing may be pending. */
  void trim() {
    for (PendingLookup<R> lookup : all) {
      lookup.extent.trim(KEEP);
    }
    scratch.trim(KEEP);
  }

  /** Drops all pending lookups after {@link #close} and passes on their requests. */
  void abandon(Consumer<R> left) {
    for (PendingLookup<R> lookup : all) {
      R request = lookup.request;
      if (request != null) {
        release(lookup);
        left.accept(request);
      }
    }
  }

  private void release(PendingLookup<R> lookup) {
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
