package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.io.DirectEngine;

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
public final class AsyncLookups implements RingLookups.Owner, Closeable {
  /** The number of lookups with unfinished handlers beyond which callers wait. */
  static final int MOST = 16_384;

  /** The system property for the number of rings, each with its own thread. */
  static final String RINGS = "bsdb.reader.index.submit.threads";

  private static final int DEFAULT_THREADS = 64;
  private static final int CLOSED = -1;
  private static final long IDLE_SECONDS = 10;

  private final SyncLookups sync;
  private final Callbacks callbacks =
      new Callbacks(Math.max(2, Runtime.getRuntime().availableProcessors()));
  private final ThreadPoolExecutor pool;
  private final RingLookups[] rings;

  /** The number of lookups with unfinished reads. */
  private int underWay;

  /** The number of lookups with unfinished handlers. */
  private int unanswered;

  private boolean closed;

  /**
   * Creates lookups over files that the caller closes after this.
   *
   * @param sync the same lookups on the calling thread
   * @param engines the engines that opened the files of the locators
   */
  AsyncLookups(SyncLookups sync, Route route, EngineChoice.Chosen engines) throws IOException {
    this.sync = sync;
    int threads = positive(DirectEngine.THREADS, DEFAULT_THREADS);
    int ringThreads = positive(RINGS, 1);
    this.pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new Thread(work, "bsdb-lookup");
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    this.rings = new RingLookups[engines.hasRings() ? ringThreads : 0];
    try {
      for (int i = 0; i < rings.length; i++) {
        rings[i] = new RingLookups(sync, route, engines, this);
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

  /** Looks up a key and delivers its answer. */
  public void get(byte[] key, Answer answer) {
    get(key, answer, null);
  }

  /** Looks up a key and delivers its answer; {@code budget} grants the memory for it. */
  public void get(byte[] key, Answer answer, @Nullable LongPredicate budget) {
    AsyncRequest request = new AsyncRequest(key, answer, budget);
    boolean answered = true;
    try {
      answered = answeredHere(request);
    } catch (IOException | RuntimeException | Error e) {
      request.fail(e);
    }
    if (answered) {
      callbacks.runHere(request);
      return;
    }
    int before = begin();
    if (before == CLOSED) {
      request.fail(new IllegalStateException("the database is closed"));
      callbacks.runHere(request);
    } else if (before == 0 && callbacks.isIdle()) {
      callbacks.execute(() -> readAndAnswer(request));
    } else {
      read(request);
    }
  }

  /*
   * A lone lookup is read by the thread that will deliver its answer, which saves one of two handovers. One at a time
   * then takes 140 us instead of 233; a synchronous one takes 187 (docs/BENCHMARKS.md).
   */
  private void readAndAnswer(AsyncRequest request) {
    try {
      find(request);
    } finally { // whatever fault comes late
      readEnded();
    }
    deliver(request);
  }

  private void deliver(AsyncRequest request) {
    try {
      request.run();
    } finally {
      answered();
    }
  }

  /** Looks up synchronously. */
  private void find(AsyncRequest request) {
    try {
      request.value = sync.get(request.key, request.budget);
    } catch (IOException | RuntimeException | Error e) {
      request.fail(e);
    }
  }

  /**
   * Answers a request that needs no I/O and returns true; for others, finds the place of the first
   * read if rings are used.
   */
  private boolean answeredHere(AsyncRequest request) throws IOException {
    if (rings.length == 0) {
      byte[] value = sync.getIfInMemory(request.key, request.budget);
      if (value == SingleLookups.NOT_IN_MEMORY) {
        return false;
      }
      request.value = value;
      return true;
    }
    sync.start(request);
    return request.place == Locator.ABSENT;
  }

  private void read(AsyncRequest request) {
    if (rings.length == 0) {
      waitFor(request);
      return;
    }
    RingLookups ring = rings[(int) (Thread.currentThread().getId() % rings.length)];
    if (!ring.submit(request)) {
      waitFor(request);
    }
  }

  /** Has a pool thread look up the key synchronously. */
  @Override
  public void waitFor(AsyncRequest request) {
    try {
      pool.execute(
          () -> {
            try {
              find(request);
            } finally { // whatever fault comes late
              answer(request);
            }
          });
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      request.fail(new IOException("cannot start a lookup thread: " + e.getMessage(), e));
      answer(request);
    }
  }

  /** Delivers the answer of a lookup whose reads are finished. */
  @Override
  public void answer(AsyncRequest request) {
    callbacks.execute(() -> deliver(request));
    readEnded();
  }

  /**
   * Waits for room and counts a lookup.
   *
   * @return the number of unanswered lookups before it, or {@link #CLOSED}
   */
  private synchronized int begin() {
    boolean interrupted = false;
    while (!closed && unanswered >= MOST && !callbacks.isOwnThread()) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (closed) {
      return CLOSED;
    }
    underWay++;
    return unanswered++;
  }

  private synchronized void readEnded() {
    underWay--;
    if (underWay == 0 && closed) {
      notifyAll();
    }
  }

  private synchronized void answered() {
    unanswered--;
    if (unanswered == MOST - 1) {
      notifyAll();
    }
  }

  /**
   * Waits for the reads of unfinished lookups, whose answers are still delivered. Later lookups
   * that need I/O fail. A second call does nothing.
   */
  @Override
  public void close() throws IOException {
    boolean interrupted = false;
    synchronized (this) {
      closed = true;
      notifyAll();
      while (underWay > 0) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
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
  static final class AsyncRequest implements Runnable {
    final byte[] key;
    final @Nullable LongPredicate budget;
    private final Answer answer;

    /** The locator of the key, if its reads go through a ring. */
    @Nullable Locator locator;

    /** The place of the first read, if it goes through a ring. */
    long place;

    byte @Nullable [] value;
    private @Nullable Throwable failure;

    AsyncRequest(byte[] key, Answer answer, @Nullable LongPredicate budget) {
      this.key = key;
      this.budget = budget;
      this.answer = answer;
    }

    void fail(Throwable why) {
      failure = why;
    }

    /** Delivers the answer. */
    @Override
    public void run() {
      if (failure != null) {
        answer.failed(failure);
      } else {
        answer.completed(value);
      }
    }
  }
}
