package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;
import tech.bsdb.io.ReadQueue;

/**
 * Concurrent lookups over one read queue, of a batch or of single keys. When a lookup's read
 * completes, its next read joins the same queue and goes to the device with the next submission.
 * Used by one thread at a time.
 */
final class QueuedLookups implements Closeable {
  /** Asks for the value of a key, or of several, and receives the answers. */
  interface Request {
    /** Receives the values; the request may set its budget. */
    Values destination(Values separate);

    /**
     * Called when a lookup has finished.
     *
     * @param number the number given to {@link #begin}
     * @param array holds the value, placed as the {@link #destination} defines; null if the key is
     *     absent or the lookup failed
     * @param failure why there is no answer, or null
     */
    void answer(int number, byte @Nullable [] array, @Nullable Throwable failure);

    /**
     * Called when a record is too large to read through the queue, or the queue has failed.
     *
     * @return true if this takes over the lookup and answers it in another way; false to read the
     *     rest now, however long it takes
     */
    boolean takesOver();
  }

  /** The largest record, in pages, read through the queue if the request takes over larger ones. */
  private static final int LARGE = 64;

  /**
   * Bytes that {@link #trim} leaves per lookup: two pages, enough for a record that straddles two.
   */
  private static final int KEEP = 8 << 10;

  private final Route route;
  private final int last;
  private final ReadQueue queue;

  /** By the number of a read: whether it goes through the queue rather than being made at once. */
  private final boolean[] queued;

  private final List<Pending> all = new ArrayList<>();
  private final ArrayDeque<Pending> free = new ArrayDeque<>();
  private final Scratch scratch = new Scratch();
  private final Values separate = Values.separate();
  private final ReadQueue.Ended ended = this::ended;

  /** A lookup that waits for a read, reused by later lookups. */
  private static final class Pending {
    final int tag;
    final Extent extent = new Extent();
    Locator locator;
    byte[] key = new byte[0];
    long place;
    int read;
    @Nullable Request request;
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
   */
  QueuedLookups(Route route, EngineChoice.Chosen engines, boolean oneThread) throws IOException {
    this.route = route;
    Locator any = route.any();
    this.last = any.reads() - 1;
    this.queued = new boolean[any.reads()];
    for (int read = 0; read <= last; read++) {
      queued[read] = engines.isQueued(any.file(read));
    }
    this.queue = engines.queue(oneThread);
  }

  /**
   * Looks up all keys of a batch with many reads in flight: as soon as one lookup finishes, the
   * next takes its place. Ends early if one has failed; see {@link KeyBatch#failure}.
   */
  void run(KeyBatch batch, Signature signature) throws IOException {
    for (int i = 0; i < batch.size() && batch.failure() == null; i++) {
      byte[] key = batch.key(i);
      Locator locator = route.of(key);
      boolean placed = batch.isPlaced();
      long place = placed ? batch.place(i) : locator.start(key, signature);
      if (!placed && place == Locator.ABSENT) {
        batch.note(i, null);
      } else {
        while (isFull()) {
          await(1);
        }
        begin(locator, placed ? last : 0, place, key, batch, i);
      }
    }
    while (pending() > 0) {
      await(1);
    }
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
   * @param number passed to the request with the answer
   */
  void begin(Locator locator, int read, long place, byte[] key, Request request, int number) {
    Pending lookup = free.poll();
    if (lookup == null) {
      lookup = new Pending(all.size(), locator);
      all.add(lookup);
    }
    lookup.locator = locator;
    lookup.key = key;
    lookup.place = place;
    lookup.read = read;
    lookup.request = request;
    lookup.number = number;
    proceed(lookup, false);
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
    Pending lookup = all.get(tag);
    if (failure != null) {
      answer(lookup, null, failure);
    } else {
      proceed(lookup, true);
    }
  }

  /**
   * Makes the reads of a lookup until one goes through the queue or the lookup is answered.
   *
   * @param queuedIsRead whether a read that went through the queue has completed
   */
  private void proceed(Pending lookup, boolean queuedIsRead) {
    Request request = lookup.request;
    if (request == null) {
      return; // already finished: answering failed
    }
    try {
      Locator locator = lookup.locator;
      Extent extent = lookup.extent;
      boolean isRead = queuedIsRead;
      if (isRead) {
        extent.verify();
      }
      while (true) {
        boolean isLast = lookup.read == last;
        if (!isRead) {
          locator.locate(lookup.read, lookup.place, extent);
          if (isLast && extent.count() > LARGE && request.takesOver()) {
            release(lookup);
            return;
          }
          if (queued[lookup.read]) {
            extent.addTo(queue, lookup.tag);
            return;
          }
          extent.read();
        }
        if (isLast) {
          if (!locator.holds(lookup.place, extent) && request.takesOver()) {
            release(lookup);
          } else {
            Values values = request.destination(separate);
            answer(lookup, locator.value(lookup.place, lookup.key, extent, values, scratch), null);
          }
          return;
        }
        lookup.place = locator.next(lookup.place, extent);
        lookup.read++;
        isRead = false;
      }
    } catch (IOException | RuntimeException | Error e) {
      answer(lookup, null, e);
    }
  }

  private void answer(Pending lookup, byte @Nullable [] array, @Nullable Throwable failure) {
    Request request = lookup.request;
    if (request != null) { // otherwise already finished: answering failed
      release(lookup);
      request.answer(lookup.number, array, failure);
    }
  }

  private void release(Pending lookup) {
    lookup.request = null;
    free.push(lookup);
  }

  /** Releases memory that only large records need; nothing may be pending. */
  void trim() {
    for (Pending lookup : all) {
      lookup.extent.trim(KEEP);
    }
    scratch.trim(KEEP);
  }

  /** Drops all pending lookups after {@link #close} and passes on their requests. */
  void abandon(Consumer<Request> left) {
    for (Pending lookup : all) {
      Request request = lookup.request;
      if (request != null) {
        release(lookup);
        left.accept(request);
      }
    }
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
