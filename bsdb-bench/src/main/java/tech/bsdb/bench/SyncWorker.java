package tech.bsdb.bench;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.bench.Answers.WrongAnswerException;
import tech.bsdb.bench.LoadTarget.Worker;
import tech.bsdb.bench.Pace.Clock;

/**
 * Looks up keys one after another, or a batch at a time: as fast as they are answered (closed
 * loop), or on a schedule (open loop). A lookup in a batch takes as long as its batch.
 */
final class SyncWorker implements Worker {
  private final SyncTarget target;
  private final KeySet keys;
  private final RequestOrder order;
  private final int[] requests;
  private final byte[][] batch;
  private final double rate;
  private final int worker;
  private final int workers;
  private final BooleanSupplier stopped;
  private final Clock clock;
  private final Stride stride = new Stride();

  /**
   * Creates a worker.
   *
   * @param batch keys per request, at least 1
   * @param rate lookups per second of all workers together, 0 for a closed loop
   * @param stopped whether all workers must stop early
   * @param clock the system's, or that of a test
   */
  SyncWorker(
      SyncTarget target,
      KeySet keys,
      RequestOrder order,
      int batch,
      double rate,
      int worker,
      int workers,
      BooleanSupplier stopped,
      Clock clock) {
    this.clock = clock;
    this.target = target;
    this.keys = keys;
    this.order = order;
    this.requests = new int[batch];
    this.batch = new byte[batch][];
    this.rate = rate / batch;
    this.worker = worker;
    this.workers = workers;
    this.stopped = stopped;
  }

  @Override
  public void run(long beginNanos, long endNanos, Tally tally) throws IOException {
    if (rate > 0) {
      openLoop(new Pace(beginNanos, rate, worker, workers), endNanos, tally);
    } else {
      closedLoop(endNanos, tally);
    }
  }

  private void closedLoop(long endNanos, Tally tally) throws IOException {
    long asked = 0;
    long now = clock.nanos();
    stride.begin(now);
    while (now < endNanos && !stopped.getAsBoolean()) {
      int step = stride.get();
      for (int untimed = 1; untimed < step; untimed++) {
        ask(tally);
      }
      long began = clock.nanos();
      ask(tally);
      now = clock.nanos();
      asked += step;
      tally.timed(now - began, (long) step * batch.length, step);
      tally.publish(asked * batch.length);
      stride.adapt(now, asked);
    }
  }

  private void openLoop(Pace pace, long endNanos, Tally tally) throws IOException {
    long asked = 0;
    for (long due = pace.next(); due < endNanos && !stopped.getAsBoolean(); due = pace.next()) {
      clock.await(due);
      long began = clock.nanos();
      if (began >= endNanos) {
        tally.notSent = (1 + pace.dueUntil(endNanos)) * batch.length;
        return;
      }
      tally.sentLate(began - due);
      ask(tally);
      asked++;
      tally.timed(clock.nanos() - due, batch.length, 1);
      tally.publish(asked * batch.length);
    }
  }

  private void ask(Tally tally) throws WrongAnswerException {
    try {
      if (batch.length == 1) {
        int request = order.next();
        tally.answered(request, target.get(keys.key(request)));
      } else {
        askBatch(tally);
      }
    } catch (WrongAnswerException e) {
      throw e;
    } catch (IOException e) {
      tally.failed(batch.length, e);
    }
  }

  private void askBatch(Tally tally) throws IOException {
    for (int i = 0; i < batch.length; i++) {
      requests[i] = order.next();
      batch[i] = keys.key(requests[i]);
    }
    List<byte @Nullable []> values = target.getAll(Arrays.asList(batch));
    if (values.size() != batch.length) {
      throw new WrongAnswerException(
          "a batch of " + batch.length + " keys got " + values.size() + " answers");
    }
    for (int i = 0; i < batch.length; i++) {
      tally.answered(requests[i], values.get(i));
    }
  }

  /** Answers synchronous lookups: a database, or a test's stand-in. Thread-safe. */
  interface SyncTarget {
    /** Returns the value of a key, or null. */
    byte @Nullable [] get(byte[] key) throws IOException;

    /** Returns the values of keys, in the same order. */
    List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException;
  }
}
