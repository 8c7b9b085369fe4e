package tech.bsdb.bench;

import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.bench.Answers.WrongAnswerException;
import tech.bsdb.bench.Completions.Slot;
import tech.bsdb.bench.LoadTarget.Worker;

/**
 * Keeps a fixed number of lookups in flight (closed loop), or sends them on a schedule with at most
 * that number in flight (open loop). The completing thread takes the timestamp; the worker's own
 * thread counts and verifies.
 */
final class AsyncWorker implements Worker {
  /** How long to wait for lookups that may never be answered. */
  static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final AsyncTarget target;
  private final KeySet keys;
  private final RequestOrder order;
  private final double rate;
  private final int worker;
  private final int workers;
  private final BooleanSupplier stopped;
  private final long patienceNanos;
  private final Stride stride = new Stride();
  private final Completions completions;
  private final Slot[] free;
  private final AtomicLong answeredTwice = new AtomicLong();
  private int freeCount;
  private int inFlight;
  private long settled;

  /**
   * Creates a worker.
   *
   * @param depth the maximum number of lookups in flight, at least 1
   * @param rate lookups per second of all workers together, 0 for a closed loop
   * @param stopped whether all workers must stop early
   * @param patienceNanos how long to wait for lookups that are never answered
   */
  AsyncWorker(
      AsyncTarget target,
      KeySet keys,
      RequestOrder order,
      int depth,
      double rate,
      int worker,
      int workers,
      BooleanSupplier stopped,
      long patienceNanos) {
    this.target = target;
    this.keys = keys;
    this.order = order;
    this.rate = rate;
    this.worker = worker;
    this.workers = workers;
    this.stopped = stopped;
    this.patienceNanos = patienceNanos;
    this.completions = new Completions(depth);
    this.free = new Slot[depth];
    for (int i = 0; i < depth; i++) {
      free[freeCount++] = new Slot();
    }
  }

  @Override
  public void run(long beginNanos, long endNanos, Tally tally) throws IOException {
    settled = 0;
    if (rate > 0) {
      openLoop(new Pace(beginNanos, rate, worker, workers), endNanos, tally);
    } else {
      closedLoop(endNanos, tally);
    }
    drain(tally);
  }

  private void closedLoop(long endNanos, Tally tally) throws IOException {
    long sent = 0;
    long now = System.nanoTime();
    stride.begin(now);
    while (now < endNanos && !stopped.getAsBoolean()) {
      int step = stride.get();
      for (int i = 1; i <= step; i++) {
        Slot slot = freeSlot(tally);
        if (i == step) {
          now = System.nanoTime();
        }
        send(slot, i == step ? now : 0, step);
      }
      sent += step;
      stride.adapt(now, sent);
    }
  }

  private void openLoop(Pace pace, long endNanos, Tally tally) throws IOException {
    for (long due = pace.next(); due < endNanos && !stopped.getAsBoolean(); due = pace.next()) {
      Slot done;
      while ((done = completions.poll()) != null) {
        settle(done, tally);
      }
      Pace.await(due);
      Slot slot = freeSlot(tally);
      long now = System.nanoTime();
      if (now >= endNanos) {
        free[freeCount++] = slot;
        tally.notSent = 1 + pace.dueUntil(endNanos);
        return;
      }
      tally.sentLate(now - due);
      send(slot, due, 1);
    }
  }

  /** Returns a free slot, or waits for the next one to be answered. */
  private Slot freeSlot(Tally tally) throws IOException {
    while (freeCount == 0) {
      Slot slot = completions.take(System.nanoTime() + patienceNanos);
      if (slot == null) {
        throw new IOException(
            "no lookup was answered for " + TimeUnit.NANOSECONDS.toSeconds(patienceNanos) + " s");
      }
      settle(slot, tally);
    }
    return free[--freeCount];
  }

  private void send(Slot slot, long beganNanos, int step) {
    slot.request = order.next();
    slot.beganNanos = beganNanos;
    slot.stride = step;
    slot.value = null;
    slot.failure = null;
    slot.pending.set(true);
    inFlight++;
    target.get(keys.key(slot.request), slot, handler);
  }

  private void settle(Slot slot, Tally tally) throws WrongAnswerException {
    inFlight--;
    free[freeCount++] = slot;
    settled++;
    if (slot.beganNanos != 0) {
      tally.timed(slot.endedNanos - slot.beganNanos, slot.stride, slot.stride);
      tally.publish(settled);
    }
    Throwable failure = slot.failure;
    if (failure != null) {
      tally.failed(1, failure);
    } else {
      tally.answered(slot.request, slot.value);
    }
  }

  private void drain(Tally tally) throws IOException {
    long until = System.nanoTime() + patienceNanos;
    while (inFlight > 0) {
      Slot slot = completions.take(until);
      if (slot == null) {
        throw new IOException(inFlight + " lookups were never answered");
      }
      settle(slot, tally);
    }
    tally.publish(settled);
    if (answeredTwice.get() > 0) {
      throw new IOException(answeredTwice.get() + " lookups were answered twice");
    }
  }

  private final CompletionHandler<byte @Nullable [], Slot> handler =
      new CompletionHandler<>() {
        @Override
        public void completed(byte @Nullable [] value, Slot slot) {
          if (claimed(slot)) {
            slot.value = value;
            completions.put(slot);
          }
        }

        @Override
        public void failed(Throwable failure, Slot slot) {
          if (claimed(slot)) {
            slot.failure = failure;
            completions.put(slot);
          }
        }

        private boolean claimed(Slot slot) {
          if (!slot.pending.compareAndSet(true, false)) {
            answeredTwice.incrementAndGet();
            return false;
          }
          if (slot.beganNanos != 0) {
            slot.endedNanos = System.nanoTime();
          }
          return true;
        }
      };

  /** Answers asynchronous lookups: a reader, or a test's stand-in. Thread-safe. */
  interface AsyncTarget {
    /**
     * Looks up a key; calls the handler exactly once, on any thread, possibly before this returns.
     */
    <A> void get(byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler);
  }
}
