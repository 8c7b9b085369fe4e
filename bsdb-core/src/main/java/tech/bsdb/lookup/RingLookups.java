package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Values;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.lookup.AsyncLookups.AsyncRequest;

/**
 * One ring and the thread that drives it. The thread accepts requests while there is room, submits
 * their reads, and passes on the answers. {@link #submit} is thread-safe.
 */
final class RingLookups implements Closeable, QueuedLookups.Answers<AsyncRequest> {
  /** Takes the requests back. */
  interface Owner {
    /** Delivers the answer of a request whose reads are finished. */
    void answer(AsyncRequest request);

    /** Has another thread look up the key, which takes more than the ring can read. */
    void waitFor(AsyncRequest request);
  }

  private final SyncLookups sync;
  private final Route route;
  private final EngineChoice.Chosen engines;
  private final Owner owner;
  private final ConcurrentLinkedQueue<AsyncRequest> inbox = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this::run, "bsdb-ring");
  private final CountDownLatch started = new CountDownLatch(1);
  private volatile @Nullable QueuedLookups<AsyncRequest> lookups;
  private @Nullable IOException refused;
  private volatile boolean ending;
  private boolean broken;

  /**
   * Starts the thread.
   *
   * @throws IOException if the system refuses to set up a ring
   */
  RingLookups(SyncLookups sync, Route route, EngineChoice.Chosen engines, Owner owner)
      throws IOException {
    this.sync = sync;
    this.route = route;
    this.engines = engines;
    this.owner = owner;
    thread.setDaemon(true);
    thread.start();
    boolean interrupted = false;
    while (started.getCount() > 0) {
      try {
        started.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (refused != null) {
      throw refused;
    }
  }

  /**
   * Accepts a request; returns false if the ring has failed and the caller must use another path.
   */
  boolean submit(AsyncRequest request) {
    QueuedLookups<AsyncRequest> open = lookups;
    if (open == null) {
      return false;
    }
    synchronized (inbox) {
      if (broken) {
        return false;
      }
      inbox.add(request);
    }
    open.wake();
    return true;
  }

  private void run() {
    // Creates the queue here, since only the creating thread may use it.
    try (QueuedLookups<AsyncRequest> open =
        new QueuedLookups<>(route, engines, true, Values.separate(), this)) {
      lookups = open;
      started.countDown();
      drive(open);
    } catch (IOException | RuntimeException | Error e) {
      refused = e instanceof IOException failure ? failure : new IOException(e);
    } finally {
      started.countDown();
      giveUp();
    }
  }

  private void drive(QueuedLookups<AsyncRequest> open) throws IOException {
    while (!ending || open.pending() > 0 || !inbox.isEmpty()) {
      while (!open.isFull()) {
        AsyncRequest request = inbox.poll();
        if (request == null) {
          break;
        }
        open.begin(
            Objects.requireNonNull(request.locator), 0, request.place, request.key, request, 0);
      }
      if (open.pending() > 0) {
        open.await(1);
      } else if (inbox.isEmpty() && !ending) {
        open.awaitWork();
      }
    }
  }

  /**
   * Refuses further requests and has the owner look up those left unanswered, if the ring failed.
   */
  private void giveUp() {
    synchronized (inbox) {
      broken = true;
    }
    QueuedLookups<AsyncRequest> open = lookups;
    if (open != null) {
      open.abandon(owner::waitFor);
    }
    for (AsyncRequest left = inbox.poll(); left != null; left = inbox.poll()) {
      owner.waitFor(left);
    }
  }

  @Override
  public void answer(
      AsyncRequest request, int number, byte @Nullable [] array, @Nullable Throwable failure) {
    request.value = array;
    if (failure != null) {
      request.fail(sync.explained(failure));
    }
    owner.answer(request);
  }

  @Override
  public boolean takesLarge(AsyncRequest request) {
    owner.waitFor(request);
    return true;
  }

  @Override
  public @Nullable LongPredicate budget(AsyncRequest request) {
    return request.budget;
  }

  /** Ends the thread once all requests are answered. */
  @Override
  public void close() {
    ending = true;
    QueuedLookups<AsyncRequest> open = lookups;
    if (open != null) {
      open.wake();
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
