package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Values;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.io.DirectEngine;
import tech.bsdb.io.Uninterrupted;

/**
 * Asynchronous lookups. Each is answered exactly once: with a value, null for an absent key, or a
 * failure. Thread-safe.
 *
 * <p>A lookup of data in memory is answered at once on the calling thread. Other lookups are read
 * through rings if the engine has them, otherwise by a pool of threads that each wait for one
 * lookup; a callback thread then delivers the answer. At most {@link #MOST} lookups may be waiting
 * for their reads or handlers. Further callers block, except handlers themselves, which could
 * deadlock.
 */
public final class AsyncLookups implements Closeable {
  /** The number of lookups with unfinished handlers beyond which callers wait. */
  static final int MOST = 16_384;

  /** The system property for the number of rings, each with its own thread. */
  static final String RINGS = "bsdb.reader.index.submit.threads";

  private static final int DEFAULT_THREADS = 64;
  private static final int CLOSED = -1;
  private static final long IDLE_SECONDS = 10;

  private final Lookup lookup;
  private final Sessions sessions;
  private final Route route;
  private final Callbacks callbacks =
      new Callbacks(Math.max(2, Runtime.getRuntime().availableProcessors()));
  private final ThreadPoolExecutor pool;
  private final RingLookups[] rings;
  private final boolean distant;

  /** The number of lookups with unfinished reads. */
  private int underWay;

  /** The number of lookups with unfinished handlers. */
  private int unanswered;

  private boolean closed;

  /**
   * Creates lookups over files that the caller closes after this.
   *
   * @param lookup the same lookups on the calling thread
   * @param engines the engines that opened the files of the locators
   */
  AsyncLookups(Lookup lookup, Sessions sessions, Route route, EngineChoice.Chosen engines)
      throws IOException {
    this.lookup = lookup;
    this.sessions = sessions;
    this.route = route;
    int threads = positive(DirectEngine.THREADS, DEFAULT_THREADS);
    int ringThreads = positive(RINGS, 1);
    this.pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> Callbacks.daemon(work, "bsdb-lookup"));
    pool.allowCoreThreadTimeOut(true);
    this.distant = engines.isDistant();
    this.rings = new RingLookups[engines.hasRings() ? ringThreads : 0];
    try {
      for (int i = 0; i < rings.length; i++) {
        rings[i] = new RingLookups(route, engines);
      }
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private static int positive(String property, int otherwise) {
    int value = Integer.getInteger(property, otherwise);
    if (value < 1 || value > 1024) {
      throw new IllegalArgumentException(property + " is " + value + ", not 1 to 1024");
    }
    return value;
  }

  /**
   * Looks up a key; the budget, if there is one, grants the memory.
   *
   * @param answer receives, exactly once, the value, or null if the key is absent or the lookup
   *     failed; and why it failed, or null
   */
  public void get(
      byte[] key,
      BiConsumer<byte @Nullable [], @Nullable Throwable> answer,
      @Nullable LongPredicate budget) {
    AsyncRequest request = new AsyncRequest(key, answer, budget);
    if (request.isAnsweredHere()) {
      callbacks.runHere(request);
      return;
    }
    int before = begin();
    if (before == CLOSED) {
      request.failure = new IllegalStateException("the database is closed");
      callbacks.runHere(request);
    } else if (before == 0 && !distant && callbacks.isIdle()) {
      callbacks.execute(request::readAndDeliver);
    } else if (rings.length == 0
        || !rings[(int) (Thread.currentThread().getId() % rings.length)].submit(request)) {
      request.takesOver();
    }
  }

  /**
   * Waits for room and counts a lookup.
   *
   * @return the number of unanswered lookups before it, or {@link #CLOSED}
   */
  private synchronized int begin() {
    if (unanswered >= MOST && !callbacks.isOwnThread()) {
      Uninterrupted.until(() -> closed || unanswered < MOST, this::wait);
    }
    if (closed) {
      return CLOSED;
    }
    underWay++;
    return unanswered++;
  }

  /** Counts the end of lookups' reads, and of their handlers. */
  private synchronized void end(int reads, int handlers) {
    underWay -= reads;
    unanswered -= handlers;
    if (underWay == 0 && closed || handlers > 0 && unanswered == MOST - 1) {
      notifyAll();
    }
  }

  /**
   * Waits for the reads of unfinished lookups, whose answers are still delivered. Later lookups
   * that need I/O fail. A second call does nothing.
   */
  @Override
  public void close() throws IOException {
    synchronized (this) {
      closed = true;
      notifyAll();
      Uninterrupted.until(() -> underWay == 0, this::wait);
    }
    for (RingLookups ring : rings) {
      if (ring != null) {
        ring.close();
      }
    }
    pool.shutdown();
    callbacks.close();
  }

  /**
   * One asynchronous lookup and its answer. Passed from thread to thread, used by one at a time.
   */
  final class AsyncRequest implements QueuedLookups.Request, Runnable {
    final byte[] key;
    private final @Nullable LongPredicate budget;
    private final BiConsumer<byte @Nullable [], @Nullable Throwable> receiver;

    /** The locator of the key, if its reads go through a ring. */
    @Nullable Locator locator;

    /** The place of the first read, if it goes through a ring. */
    long place;

    private byte @Nullable [] value;
    private @Nullable Throwable failure;

    AsyncRequest(
        byte[] key,
        BiConsumer<byte @Nullable [], @Nullable Throwable> receiver,
        @Nullable LongPredicate budget) {
      this.key = key;
      this.budget = budget;
      this.receiver = receiver;
    }

    /**
     * Finds the answer and returns true if that needs no I/O; otherwise finds the place of the
     * first read if rings are used.
     */
    private boolean isAnsweredHere() {
      try {
        if (rings.length == 0) {
          value = lookup.getIfInMemory(key, budget);
          return value != Session.NOT_IN_MEMORY;
        }
        Boolean absent =
            sessions.use(
                session -> {
                  locator = route.of(key);
                  place = locator.start(key, session.signature);
                  return place == Locator.ABSENT;
                });
        return Boolean.TRUE.equals(absent);
      } catch (IOException | RuntimeException | Error e) {
        failure = e;
        return true;
      }
    }

    /** Looks up the key synchronously. */
    private void read() {
      try {
        value = lookup.get(key, budget);
      } catch (IOException | RuntimeException | Error e) {
        failure = e;
      }
    }

    /*
     * A lone lookup is read by the thread that will deliver its answer, which saves one of two handovers. One at a time
     * then takes 140 us instead of 233; a synchronous one takes 187 (docs/BENCHMARKS.md). Not where a read takes so long
     * that the handover does not count.
     */
    private void readAndDeliver() {
      try {
        read();
      } finally { // whatever fault comes late
        end(1, 0);
      }
      deliver();
    }

    /** Has a pool thread look up the key synchronously. */
    @Override
    public boolean takesOver() {
      try {
        pool.execute(
            () -> {
              try {
                read();
              } finally { // whatever fault comes late
                answered();
              }
            });
      } catch (RejectedExecutionException | OutOfMemoryError e) {
        failure = new IOException("cannot start a lookup thread: " + e.getMessage(), e);
        answered();
      }
      return true;
    }

    @Override
    public Values destination(Values separate) {
      separate.use(budget);
      return separate;
    }

    @Override
    public void answer(int number, byte @Nullable [] array, @Nullable Throwable why) {
      value = array;
      failure = why == null ? null : sessions.explained(why);
      answered();
    }

    /** Has the answer delivered; all reads are finished. */
    private void answered() {
      callbacks.execute(this::deliver);
      end(1, 0);
    }

    private void deliver() {
      try {
        run();
      } finally {
        end(0, 1);
      }
    }

    /** Delivers the answer. */
    @Override
    public void run() {
      receiver.accept(value, failure);
    }
  }
}
