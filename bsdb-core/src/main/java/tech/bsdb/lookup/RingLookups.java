package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.lookup.AsyncLookups.AsyncRequest;

/**
 * One ring and the thread that drives it. The thread accepts requests while there is room, submits
 * their reads, and passes on the answers. {@link #submit} is thread-safe.
 */
final class RingLookups implements Closeable {
  private final QueuedLookups lookups;
  private final ConcurrentLinkedQueue<AsyncRequest> inbox = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
  private volatile boolean ending;
  private boolean broken;

  /**
   * Starts the thread.
   *
   * @throws IOException if the system refuses to set up a ring
   */
  RingLookups(Route route, EngineChoice.Chosen engines) throws IOException {
    CompletableFuture<QueuedLookups> opened = new CompletableFuture<>();
    Callbacks.daemon(() -> run(route, engines, opened), "bsdb-ring").start();
    try {
      lookups = opened.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof IOException refused ? refused : new IOException(e.getCause());
    }
  }

  /**
   * Accepts a request; returns false if the ring has failed and the caller must use another path.
   */
  boolean submit(AsyncRequest request) {
    synchronized (inbox) {
      if (broken) {
        return false;
      }
      inbox.add(request);
    }
    lookups.wake();
    return true;
  }

  /** Opens the queue, since only the thread that creates it may use it, and drives it. */
  private void run(
      Route route, EngineChoice.Chosen engines, CompletableFuture<QueuedLookups> opened) {
    QueuedLookups open;
    try {
      open = new QueuedLookups(route, engines, true);
    } catch (IOException | RuntimeException | Error e) {
      opened.completeExceptionally(e);
      return;
    }
    opened.complete(open);
    try (open) {
      drive(open);
    } catch (IOException | RuntimeException | Error e) {
      // The ring has failed; the requests go another way.
    } finally {
      try {
        giveUp(open);
      } finally {
        ended.complete(null);
      }
    }
  }

  private void drive(QueuedLookups open) throws IOException {
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

  /** Refuses further requests, and has those left unanswered, if the ring failed, looked up. */
  private void giveUp(QueuedLookups open) {
    synchronized (inbox) {
      broken = true;
    }
    open.abandon(QueuedLookups.Request::takesOver);
    for (AsyncRequest left = inbox.poll(); left != null; left = inbox.poll()) {
      left.takesOver();
    }
  }

  /** Ends the thread once all requests are answered. */
  @Override
  public void close() {
    ending = true;
    lookups.wake();
    ended.join();
  }
}
