package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tech.bsdb.bench.Answers.WrongAnswerException;
import tech.bsdb.bench.AsyncWorker.AsyncTarget;

@Timeout(60)
class AsyncWorkerTest {
  private static final KeySet KEYS = FakeAnswers.keys(1000);
  private static final long LONG = 60_000_000_000L;

  @Test
  void keepsNoMoreInFlightThanAskedFor() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3);
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Tally tally = new Tally(new Answers(KEYS, 0));
    try {
      AsyncTarget target =
          new AsyncTarget() {
            @Override
            public <A> void get(
                byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler) {
              most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
              threads.execute(
                  () -> {
                    inFlight.decrementAndGet();
                    handler.completed(FakeAnswers.valueOf(key), attachment);
                  });
            }
          };
      untilDone(target, 8, tally);
    } finally {
      threads.shutdown();
    }
    assertThat(most.get()).isBetween(1, 8);
    assertThat(tally.hits).isPositive().isEqualTo(tally.done());
    assertThat(tally.latency.getTotalCount()).isPositive();
  }

  @Test
  void answersMayComeBeforeTheCallReturns() throws IOException {
    Tally tally = new Tally(new Answers(KEYS, 0));
    untilDone(direct(1), 1, tally);
    assertThat(tally.hits).isPositive().isEqualTo(tally.done());
  }

  @Test
  void anOpenLoopSendsWhatIsDue() throws IOException {
    Tally tally = new Tally(new Answers(KEYS, 0));
    long begin = System.nanoTime();
    worker(direct(1), 4, 10_000).run(begin, begin + 100_000_000, tally);
    assertThat(tally.hits + tally.notSent).isEqualTo(1_000);
  }

  @Test
  void anAnswerThatNeverComesIsAnError() {
    assertThatThrownBy(() -> impatient(direct(0)).run(0, System.nanoTime() + LONG, tally()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("answered");
  }

  @Test
  void anAnswerThatComesTwiceIsAnError() {
    assertThatThrownBy(() -> untilDone(direct(2), 4, tally()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("twice");
  }

  @Test
  void aWrongAnswerEndsTheRun() {
    AsyncTarget target =
        new AsyncTarget() {
          @Override
          public <A> void get(
              byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler) {
            handler.completed(key, attachment);
          }
        };
    assertThatThrownBy(() -> worker(target, 4, 0).run(0, System.nanoTime() + LONG, tally()))
        .isInstanceOf(WrongAnswerException.class)
        .hasMessageContaining("key000000");
  }

  @Test
  void failuresAreCounted() throws IOException {
    AsyncTarget target =
        new AsyncTarget() {
          @Override
          public <A> void get(
              byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler) {
            handler.failed(new IOException("device gone"), attachment);
          }
        };
    Tally tally = tally();
    untilDone(target, 4, tally);
    assertThat(tally.errors).isPositive().isEqualTo(tally.done());
    assertThat(tally.firstError).isEqualTo("device gone");
  }

  private static Tally tally() {
    return new Tally(new Answers(KEYS, 0));
  }

  private static AsyncWorker worker(AsyncTarget target, int depth, double rate) {
    return new AsyncWorker(
        target,
        KEYS,
        FakeAnswers.order(KEYS),
        depth,
        rate,
        0,
        1,
        () -> false,
        AsyncWorker.PATIENCE_NANOS);
  }

  /** Runs a closed loop until a number of requests is done, however long that takes. */
  private static void untilDone(AsyncTarget target, int depth, Tally tally) throws IOException {
    new AsyncWorker(
            target,
            KEYS,
            FakeAnswers.order(KEYS),
            depth,
            0,
            0,
            1,
            () -> tally.done() >= 1000,
            AsyncWorker.PATIENCE_NANOS)
        .run(0, System.nanoTime() + LONG, tally);
  }

  private static AsyncWorker impatient(AsyncTarget target) {
    return new AsyncWorker(
        target, KEYS, FakeAnswers.order(KEYS), 4, 0, 0, 1, () -> false, 50_000_000);
  }

  /** Answers a number of times, in the caller's thread. */
  private static AsyncTarget direct(int times) {
    return new AsyncTarget() {
      @Override
      public <A> void get(
          byte[] key, A attachment, CompletionHandler<byte @Nullable [], ? super A> handler) {
        for (int i = 0; i < times; i++) {
          handler.completed(FakeAnswers.valueOf(key), attachment);
        }
      }
    };
  }
}
