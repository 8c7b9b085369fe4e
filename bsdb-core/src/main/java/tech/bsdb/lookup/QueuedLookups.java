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
 * Lookups that are under way together over one queue of reads. The end of a lookup's read of the
 * index adds its read of the data to the same queue, so that both go to the device with the next
 * submission. One thread at a time.
 *
 * @param <R> what a lookup is for
 */
final class QueuedLookups<R> implements Closeable {
  /** Hears of lookups that ended. */
  interface Answers<R> {
    /**
     * A lookup ended.
     *
     * @param number as it was given at the beginning
     * @param array holds the value, as the {@link Values} in use say; null if the key is absent or
     *     the lookup failed
     * @param failure why there is no answer, or null
     */
    void answer(R request, int number, byte @Nullable [] array, @Nullable Throwable failure);

    /**
     * A record is larger than what one read brings.
     *
     * @return true if the lookup is taken over and will be answered in another way; false if the
     *     rest is to be read now, however long it takes
     */
    default boolean takesLarge(R request) {
      return false;
    }

    /** What is asked for memory for a lookup's value, or null if the values in use ask. */
    default @Nullable LongPredicate budget(R request) {
      return null;
    }
  }

  /** Pages of a record that a queue reads at the most where someone else takes larger ones. */
  private static final int LARGE = 64;

  /** Bytes that {@link #trim} leaves for each lookup: two pages, or a record that straddles. */
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

  /** Whether a lookup's own budget is set. */
  private boolean asked;

  /**
   * Lookups over a queue, which this closes.
   *
   * @param indexQueued whether the queue reads the index; if not, it is read at once
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

  /** Puts values elsewhere from now on; nothing may be pending. */
  void useValues(Values other) {
    values = other;
  }

  /** Lookups that have not ended. */
  int pending() {
    return all.size() - free.size();
  }

  /** Whether another one must wait for one to end. */
  boolean isFull() {
    return pending() >= queue.depth();
  }

  /** Begins a lookup of a key whose slot is known; there must be room for it. */
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

  /** Sends what was added and waits for at least so many reads, or for all if fewer are pending. */
  void await(int atLeast) throws IOException {
    queue.await(atLeast, ended);
  }

  /** Sends what was added, and waits until a read has ended or {@link #wake} is called. */
  void awaitWork() throws IOException {
    queue.awaitWork();
  }

  /** From any thread: a waiting owner goes on. */
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
      ask(lookup);
      end(lookup, path.shortValue(lookup.slot, lookup.extent, values), null);
      return;
    }
    lookup.address = path.address(lookup.slot, lookup.extent);
    path.toRecord(lookup.address, lookup.extent);
    lookup.atRecord = true;
    R request = lookup.request;
    if (lookup.extent.count() > LARGE && request != null && answers.takesLarge(request)) {
      release(lookup); // so that the windows of a queue stay small
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
    ask(lookup);
    end(lookup, path.record(lookup.address, lookup.key, lookup.extent, values, scratch), null);
  }

  /** Has the lookup's own budget asked for the memory of its value, if it has one. */
  private void ask(PendingLookup<R> lookup) {
    R request = lookup.request;
    LongPredicate budget = request == null ? null : answers.budget(request);
    if (budget != null || asked) {
      values.use(budget);
      asked = budget != null;
    }
  }

  private void end(PendingLookup<R> lookup, byte @Nullable [] array, @Nullable Throwable failure) {
    R request = lookup.request;
    if (request != null) { // else it has ended: answering failed
      release(lookup);
      answers.answer(request, lookup.number, array, failure);
    }
  }

  /** Lets go of memory that only large records need; nothing may be pending. */
  void trim() {
    for (PendingLookup<R> lookup : all) {
      lookup.extent.trim(KEEP);
    }
    scratch.trim(KEEP);
  }

  /** Lets go of all that is pending, once this is closed, and tells for what it was. */
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

  /** Waits for what is pending, and frees the queue. */
  @Override
  public void close() throws IOException {
    try {
      queue.close();
    } finally {
      scratch.close();
    }
  }
}
