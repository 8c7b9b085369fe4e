package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.io.DirectEngine;

/**
 * Lookups whose answers come later, each exactly once: a value, null for an absent key, or a
 * failure. Thread-safe.
 *
 * <p>What is in memory is answered at once, by the caller's thread. What must be read goes through
 * rings where the engine has them, else through a pool of threads that each wait for one lookup;
 * then the answer is given by a thread that does nothing else. At most {@link #MOST} lookups wait
 * for their reads or their answers' handlers: a caller beyond that waits, unless it is itself such
 * a handler, which would wait for itself.
 */
public final class AsyncLookups implements Closeable {
  /** Lookups that were begun and whose handlers have not ended, before callers must wait. */
  static final int MOST = 16_384;

  /** The system property for the number of rings, each with a thread of its own. */
  static final String RINGS = "bsdb.reader.index.submit.threads";

  private static final int DEFAULT_THREADS = 64;
  private static final int CLOSED = -1;
  private static final long IDLE_SECONDS = 10;

  /** Hears the answer to one lookup, exactly once. */
  public interface Answer {
    void completed(byte @Nullable [] value);

    void failed(Throwable why);
  }

  private final Lookup lookup;
  private final Callbacks callbacks =
      new Callbacks(Math.max(2, Runtime.getRuntime().availableProcessors()));
  private final ThreadPoolExecutor pool;
  private final RingLookups[] rings;

  /** Lookups whose reads have not ended. */
  private int underWay;

  /** Lookups whose handlers have not ended. */
  private int unanswered;

  private boolean closed;

  /** Lookups in an open database, which stays the caller's to close, after this. */
  public AsyncLookups(Lookup lookup) throws IOException {
    this.lookup = lookup;
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
    this.rings = new RingLookups[lookup.engines().hasRings() ? ringThreads : 0];
    try {
      for (int i = 0; i < rings.length; i++) {
        rings[i] = new RingLookups(lookup, this);
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

  /** Looks a key up and has its answer given. */
  public void get(byte[] key, Answer answer) {
    get(key, answer, null);
  }

  /** Looks a key up and has its answer given; the budget is asked for memory. */
  public void get(byte[] key, Answer answer, @Nullable LongPredicate budget) {
    Request request = new Request(key, answer, budget);
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
   * Alone, a lookup is read by the very thread that will give its answer: one hand-over in place of two. One at a time
   * then takes 140 us in place of 233, where a synchronous one takes 187 (docs/BENCHMARKS.md).
   */
  private void readAndAnswer(Request request) {
    find(request);
    readEnded();
    give(request);
  }

  private void give(Request request) {
    try {
      request.run();
    } finally {
      answered();
    }
  }

  /** Looks up and waits for it. */
  private void find(Request request) {
    try {
      request.value = lookup.get(request.key, request.budget);
    } catch (IOException | RuntimeException | Error e) {
      request.fail(e);
    }
  }

  /** Answers a request that needs no device, or finds the slot of another one. */
  private boolean answeredHere(Request request) throws IOException {
    if (rings.length == 0) {
      byte[] value = lookup.getIfInMemory(request.key, request.budget);
      if (value == Lookup.NOT_IN_MEMORY) {
        return false;
      }
      request.value = value;
      return true;
    }
    lookup.findSlot(request);
    return request.slot == HashFunction.ABSENT;
  }

  private void read(Request request) {
    if (rings.length == 0) {
      waitFor(request);
      return;
    }
    RingLookups ring = rings[(int) (Thread.currentThread().getId() % rings.length)];
    if (!ring.submit(request)) {
      waitFor(request);
    }
  }

  /** Has a thread of the pool look the key up and wait for it. */
  void waitFor(Request request) {
    try {
      pool.execute(
          () -> {
            find(request);
            answer(request);
          });
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      request.fail(new IOException("no thread can be had to look a key up: " + e.getMessage(), e));
      answer(request);
    }
  }

  /** Has the answer of a lookup given, whose reads have ended. */
  void answer(Request request) {
    callbacks.execute(() -> give(request));
    readEnded();
  }

  /**
   * Counts a lookup, once there is room.
   *
   * @return how many were unanswered before, or {@link #CLOSED}
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

  /** One lookup and its answer. */
  static final class Request implements Runnable {
    final byte[] key;
    final @Nullable LongPredicate budget;
    private final Answer answer;
    long slot;
    byte @Nullable [] value;
    private @Nullable Throwable failure;

    Request(byte[] key, Answer answer, @Nullable LongPredicate budget) {
      this.key = key;
      this.budget = budget;
      this.answer = answer;
    }

    void fail(Throwable why) {
      failure = why;
    }

    /** Gives the answer. */
    @Override
    public void run() {
      if (failure != null) {
        answer.failed(failure);
      } else {
        answer.completed(value);
      }
    }
  }

  /**
   * Waits for the lookups under way, whose answers are still given; later ones fail. A second call
   * does nothing.
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
}
