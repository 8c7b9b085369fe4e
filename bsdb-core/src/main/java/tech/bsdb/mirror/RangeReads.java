package tech.bsdb.mirror;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.remote.RemoteTraffic;
import tech.bsdb.transfer.BusyException;
import tech.bsdb.transfer.RefusedException;

/**
 * Reads ranges of an origin's files as {@link RemoteOptions} say: so many requests in flight, so
 * many attempts, within a deadline. Thread-safe.
 *
 * <p>The deadline counts from the call of {@link #read}, the time that a read waits for its turn
 * included.
 */
final class RangeReads {
  /*
   * A Read is what the caller asked for; a Request is one question to the origin, of which a read
   * has one after the other, and two at a time if it is hedged. A request holds a permit from the
   * moment it is sent to the moment it ends, and hands it to the one that has waited longest.
   *
   * No thread waits. What happens next runs on the thread that ended a request: one of the origin,
   * the caller's if the origin answered at once, or that of the timers. The outcome of a request is
   * set once, by the origin or by whoever gives it up; so a permit comes back, and a read ends,
   * even if the origin never answers.
   */

  /** Reads longer than this take their time, and are not hedged. */
  private static final int HEDGED_BYTES = 64 << 10;

  /** One of so many reads may be hedged. */
  private static final int READS_A_HEDGE = 20;

  /** How late a deadline may be noticed. */
  private static final long LONGEST_TICK = 200_000_000;

  private final RangeOrigin origin;
  private final RemoteOptions options;
  private final Pace pace;
  private final RecentDurations durations = new RecentDurations();
  private final LongAdder requests = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder retries = new LongAdder();

  /** One timer for all reads, since a timer for each costs as much as all else here. */
  private final Set<Read> open = ConcurrentHashMap.newKeySet();

  private final AtomicBoolean watching = new AtomicBoolean();
  private final long tickNanos;

  private final Object turnstile = new Object(); // guards the fields below
  private final Queue<Request> waiting = new ArrayDeque<>();
  private int permits;
  private long reads;
  private long hedges;

  /** Creates reads; asks nothing of the origin yet. */
  RangeReads(RangeOrigin origin, RemoteOptions options) {
    this(origin, options, Pace.usual());
  }

  RangeReads(RangeOrigin origin, RemoteOptions options, Pace pace) {
    this.origin = origin;
    this.options = options;
    this.pace = pace;
    this.permits = options.requests();
    long shortest = Math.min(options.deadline().toNanos(), pace.patience().toNanos());
    this.tickNanos = Math.min(LONGEST_TICK, Math.max(1, shortest / 16));
  }

  /**
   * Starts to read a range, and does not wait.
   *
   * @return completes with exactly these bytes or with an {@link IOException} that names the file,
   *     on a thread that must not be made to wait. Cancelling it gives up its requests
   */
  CompletableFuture<byte[]> read(String file, long size, long from, int length) {
    Read read = new Read(file, size, from, length);
    read.start();
    return read.result;
  }

  /** What was asked so far. */
  RemoteTraffic counters() {
    synchronized (turnstile) {
      return new RemoteTraffic(requests.sum(), bytes.sum(), retries.sum(), hedges);
    }
  }

  /** Sends a request when its turn comes. */
  private void queue(Request request, boolean isFirst) {
    synchronized (turnstile) {
      reads += isFirst ? 1 : 0;
      if (permits == 0) {
        waiting.add(request);
        return;
      }
      permits--;
    }
    run(request);
  }

  /**
   * Sends a request that has a permit, and those that get the permit next as long as answers come
   * at once. A loop, since a chain of calls could grow as long as the queue.
   */
  private void run(@Nullable Request first) {
    Request next = first;
    while (next != null) {
      Request sent = next;
      sent.send();
      if (!sent.isSecond()) {
        return; // whoever ends it goes on
      }
      next = nextInTurn();
      sent.settle();
    }
  }

  /** The request that has waited longest, which inherits a permit; null if the permit is free. */
  private @Nullable Request nextInTurn() {
    synchronized (turnstile) {
      Request next = waiting.poll();
      permits += next == null ? 1 : 0;
      return next;
    }
  }

  private boolean takePermitForHedge() {
    synchronized (turnstile) {
      if (permits == 0 || (hedges + 1) * READS_A_HEDGE > reads) {
        return false;
      }
      permits--;
      hedges++;
      return true;
    }
  }

  /** Looks after the open reads from time to time, as long as there are any. */
  private void watch() {
    if (!watching.get() && watching.compareAndSet(false, true)) {
      CompletableFuture<Void> unused = after(tickNanos, this::look);
    }
  }

  private void look() {
    try {
      open.forEach(Read::endLate);
    } finally {
      watching.set(false);
      if (!open.isEmpty()) {
        watch();
      }
    }
  }

  /** Runs an action after a time, unless the future is completed before. */
  private static CompletableFuture<Void> after(long nanos, Runnable action) {
    CompletableFuture<Void> timer = new CompletableFuture<>();
    CompletableFuture<Void> unused =
        timer
            .orTimeout(Math.max(1, nanos), TimeUnit.NANOSECONDS)
            .whenComplete(
                (none, late) -> {
                  if (late != null) {
                    action.run();
                  }
                });
    return timer;
  }

  private static void callOff(@Nullable CompletableFuture<Void> timer) {
    if (timer != null) {
      boolean unused = timer.complete(null);
    }
  }

  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
  }

  /** How a request ended: with bytes, or with a failure. */
  private record Outcome(byte @Nullable [] bytes, @Nullable Throwable failure) {}

  /** One question to the origin. */
  private final class Request {
    private final Read read;
    private final boolean isHedge;
    private final AtomicReference<@Nullable Outcome> outcome = new AtomicReference<>();
    private final AtomicInteger arrivals = new AtomicInteger();
    private volatile @Nullable CompletableFuture<byte[]> answer;
    private volatile long sent;

    Request(Read read, boolean isHedge) {
      this.read = read;
      this.isHedge = isHedge;
    }

    void send() {
      sent = System.nanoTime();
      if (!read.begins(this)) {
        end(null, new EOFException("given up"));
        return;
      }
      requests.increment();
      try {
        CompletableFuture<byte[]> asked = origin.read(read.file, read.size, read.from, read.length);
        answer = asked;
        CompletableFuture<byte[]> unused = asked.whenComplete(this::end);
      } catch (Throwable e) { // whatever an origin does, the read ends
        end(null, e);
      }
      if (outcome.get() != null) {
        cancel(); // whoever gave it up may have come before there was an answer to cancel
      }
    }

    /** Ends the request. */
    private void end(byte @Nullable [] found, @Nullable Throwable failure) {
      if (outcome.compareAndSet(null, new Outcome(found, failure))) {
        goOn();
      }
    }

    void giveUp(String why) {
      if (outcome.compareAndSet(null, new Outcome(null, new IOException(why)))) {
        cancel();
        goOn();
      }
    }

    private void cancel() {
      CompletableFuture<byte[]> asked = answer;
      if (asked != null) {
        try {
          boolean unused = asked.cancel(true);
        } catch (RuntimeException e) {
          // the request has ended here, whatever its origin says
        }
      }
    }

    private void goOn() {
      if (isSecond()) {
        run(nextInTurn());
        settle();
      }
    }

    /** Two come here, whoever sent it and whoever ended it; the second one goes on. */
    boolean isSecond() {
      return arrivals.incrementAndGet() == 2;
    }

    void settle() {
      Outcome ended = outcome.get();
      if (ended != null) {
        try {
          read.settle(this, ended);
        } catch (Throwable e) { // whatever happens, the read ends
          read.fail(new IOException(read.location() + ": " + e, e));
        }
      }
    }
  }

  /** What a caller asked for. */
  private final class Read {
    private final String file;
    private final long size;
    private final long from;
    private final int length;
    private final long started = System.nanoTime();
    private final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private volatile @Nullable CompletableFuture<Void> alarm;
    private final List<Request> inFlight = new ArrayList<>(2); // guarded by this, as all below
    private int attempts;
    private @Nullable IOException last;

    Read(String file, long size, long from, int length) {
      this.file = file;
      this.size = size;
      this.from = from;
      this.length = length;
    }

    void start() {
      CompletableFuture<byte[]> unused = result.whenComplete((found, failure) -> clear());
      open.add(this);
      watch();
      queue(new Request(this, false), true);
    }

    private long leftNanos() {
      return options.deadline().toNanos() - (System.nanoTime() - started);
    }

    /** Ends the read at its deadline, and a request that takes too long. */
    void endLate() {
      if (leftNanos() <= 0) {
        fail(late());
        return;
      }
      long patience = pace.patienceNanos(length);
      for (Request request : requestsInFlight()) {
        if (System.nanoTime() - request.sent >= patience) {
          request.giveUp("no answer within " + seconds(patience));
        }
      }
    }

    private synchronized List<Request> requestsInFlight() {
      return List.copyOf(inFlight);
    }

    /** Notes a request that is being sent; false if the read has ended. */
    boolean begins(Request request) {
      synchronized (this) {
        if (result.isDone()) {
          return false;
        }
        inFlight.add(request);
        if (request.isHedge) {
          return true;
        }
        attempts++;
        if (attempts > 1) {
          retries.increment();
        }
      }
      long unusual = options.hedged() && length <= HEDGED_BYTES ? durations.unusualNanos() : 0;
      if (unusual > 0) {
        alarm = after(unusual, this::hedge);
      }
      return true;
    }

    private void hedge() {
      boolean waits;
      synchronized (this) {
        waits = inFlight.size() == 1 && !result.isDone();
      }
      if (waits && takePermitForHedge()) {
        run(new Request(this, true));
      }
    }

    /** Ends the read, or asks again, now that a request has ended. */
    void settle(Request request, Outcome ended) {
      byte[] found = ended.bytes;
      if (ended.failure != null || found == null || found.length != length) {
        failed(request, failure(ended));
      } else if (!result.isDone()) {
        bytes.add(length); // before the caller knows, who may look at the counters
        if (options.hedged() && length <= HEDGED_BYTES) {
          durations.add(System.nanoTime() - request.sent);
        }
        boolean unused = result.complete(found);
      }
    }

    private IOException failure(Outcome ended) {
      Throwable failure = ended.failure;
      while (failure instanceof CompletionException && failure.getCause() != null) {
        failure = failure.getCause();
      }
      if (failure == null) {
        int count = ended.bytes == null ? 0 : ended.bytes.length;
        return new EOFException(count + " bytes arrived instead of " + length);
      }
      if (failure instanceof CancellationException) {
        return new IOException("the request was cancelled", failure);
      }
      return failure instanceof IOException known ? known : new RefusedException(failure);
    }

    private void failed(Request request, IOException why) {
      boolean isNamed =
          why instanceof NoSuchFileException
              || why instanceof AccessDeniedException
              || why instanceof ChangedException;
      boolean isFinal = isNamed || why instanceof RefusedException;
      int attempt;
      synchronized (this) {
        inFlight.remove(request);
        if (result.isDone()) {
          return;
        }
        last = why;
        if (!isFinal && !inFlight.isEmpty()) {
          return; // the other one may succeed
        }
        attempt = attempts;
      }
      if (isFinal) {
        fail(isNamed ? why : new IOException(location() + ": " + reason(why), why));
      } else if (attempt >= options.attempts()) {
        fail(exhausted(attempt, why));
      } else {
        repeat(attempt, why);
      }
    }

    private void repeat(int attempt, IOException why) {
      long left = leftNanos();
      long pause = pace.pauseNanos(attempt);
      if (why instanceof BusyException busy && busy.waiting().toNanos() < left) {
        pause = Math.max(pause, busy.waiting().toNanos());
      }
      if (pause >= left) {
        fail(late());
      } else {
        CompletableFuture<Void> unused = after(pause, () -> queue(new Request(this, false), false));
      }
    }

    private IOException exhausted(int attempt, IOException why) {
      String spent = seconds(System.nanoTime() - started);
      String tried =
          attempt == 1 ? "" : "gave up after " + attempt + " attempts in " + spent + ": ";
      return new IOException(location() + ": " + tried + reason(why), why);
    }

    private synchronized IOException late() {
      String within = ": no answer within " + seconds(options.deadline().toNanos());
      String state =
          attempts == 0
              ? "waited for its turn, with " + options.requests() + " requests in flight"
              : "attempts: " + attempts;
      String failure = last == null ? "" : "; the last failure: " + reason(last);
      return new IOException(location() + within + " (" + state + failure + ")", last);
    }

    private String location() {
      try {
        return origin.location(file);
      } catch (RuntimeException e) {
        return file;
      }
    }

    private String reason(IOException why) {
      try {
        return origin.reason(why);
      } catch (RuntimeException e) {
        return why.toString();
      }
    }

    private void fail(IOException why) {
      boolean unused = result.completeExceptionally(why);
    }

    /** Gives up what still runs once the read has ended. */
    private void clear() {
      open.remove(this);
      callOff(alarm);
      for (Request request : requestsInFlight()) {
        request.giveUp("given up");
      }
    }
  }
}
