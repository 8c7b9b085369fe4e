package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tech.bsdb.bench.Answers.WrongAnswerException;
import tech.bsdb.bench.Pace.Clock;
import tech.bsdb.bench.SyncWorker.SyncTarget;

@Timeout(60)
class SyncWorkerTest {
  private static final KeySet KEYS = FakeAnswers.keys(1000);

  /** A clock that goes on only where a test says so. */
  private static final class FakeClock implements Clock {
    private static final long LOOK = 20_000;

    private long now = 1_000_000_000;

    @Override
    public long nanos() {
      now += LOOK;
      return now;
    }

    @Override
    public void await(long dueNanos) {
      now = Math.max(now, dueNanos);
    }

    void pass(long nanos) {
      now += nanos;
    }
  }

  private final FakeClock clock = new FakeClock();
  private final long begin = clock.now;

  @Test
  void aStallIsSeenByEveryRequestThatWasDueMeanwhile() throws IOException {
    long stall = TimeUnit.MILLISECONDS.toNanos(200);
    SyncTarget target =
        new Fake() {
          private boolean stalled;

          @Override
          public byte[] get(byte[] key) throws IOException {
            clock.pass(stalled ? 0 : stall);
            stalled = true;
            return super.get(key);
          }
        };
    Tally tally = new Tally(new Answers(KEYS, 0));
    worker(target, 1, 1000).run(begin, begin + 5 * stall, tally);
    // At 1,000 a second 200 requests were due in the stall, and a good half of those were answered
    // over 100 ms late. A load that waits for answers would have seen a single slow one.
    assertThat(tally.latency.getCountBetweenValues(stall / 2, Long.MAX_VALUE / 2))
        .isBetween(100L, 110L);
    assertThat(tally.hits).isEqualTo(1000);
    assertThat(tally.latestNanos).isBetween(stall * 9 / 10, stall);
  }

  @Test
  void anOpenLoopThatCannotKeepUpSaysWhatItOwes() throws IOException {
    SyncTarget target =
        new Fake() {
          @Override
          public byte[] get(byte[] key) throws IOException {
            clock.pass(1_000_000);
            return super.get(key);
          }
        };
    Tally tally = new Tally(new Answers(KEYS, 0));
    worker(target, 1, 100_000).run(begin, begin + 100_000_000, tally);
    assertThat(tally.hits + tally.notSent).isEqualTo(10_000);
    assertThat(tally.hits).isBetween(90L, 100L);
  }

  @Test
  void batchesCountEveryKey() throws IOException {
    Tally tally = new Tally(new Answers(KEYS, 0));
    worker(new Fake(), 64, 0).run(begin, begin + 500_000_000, tally);
    assertThat(tally.hits).isPositive().isEqualTo(tally.done());
    assertThat(tally.hits % 64).isZero();
    assertThat(tally.latency.getTotalCount()).isEqualTo(tally.hits);
  }

  @Test
  void aWrongAnswerEndsTheRun() {
    SyncTarget target =
        new Fake() {
          @Override
          public byte[] get(byte[] key) throws IOException {
            byte[] value = super.get(key);
            if (key[8] == '7') {
              value[10]++;
            }
            return value;
          }
        };
    for (int batch : new int[] {1, 8}) {
      assertThatThrownBy(
              () ->
                  worker(target, batch, 0)
                      .run(begin, begin + 60_000_000_000L, new Tally(new Answers(KEYS, 0))))
          .isInstanceOf(WrongAnswerException.class)
          .hasMessageContaining("key000007");
    }
  }

  @Test
  void answersInTheWrongOrderAreWrong() {
    SyncTarget target =
        new Fake() {
          @Override
          public List<byte @Nullable []> getAll(List<byte[]> keys) {
            List<byte @Nullable []> values = super.getAll(keys);
            Collections.swap(values, 0, 1);
            return values;
          }
        };
    assertThatThrownBy(
            () ->
                worker(target, 8, 0)
                    .run(begin, begin + 60_000_000_000L, new Tally(new Answers(KEYS, 0))))
        .isInstanceOf(WrongAnswerException.class)
        .hasMessageContaining("key000000");
  }

  @Test
  void failuresAreCountedAndTheLoadGoesOn() throws IOException {
    SyncTarget target =
        new Fake() {
          @Override
          public byte[] get(byte[] key) throws IOException {
            if (key[8] == '3') {
              throw new IOException("device gone");
            }
            return super.get(key);
          }
        };
    Tally tally = new Tally(new Answers(KEYS, 0));
    worker(target, 1, 0).run(begin, begin + 500_000_000, tally);
    assertThat(tally.errors).isPositive();
    assertThat(tally.firstError).isEqualTo("device gone");
    assertThat(tally.hits).isPositive();
  }

  private SyncWorker worker(SyncTarget target, int batch, double rate) {
    return new SyncWorker(
        target, KEYS, FakeAnswers.order(KEYS), batch, rate, 0, 1, () -> false, clock);
  }

  private static class Fake implements SyncTarget {
    @Override
    public byte[] get(byte[] key) throws IOException {
      return FakeAnswers.valueOf(key);
    }

    @Override
    public List<byte @Nullable []> getAll(List<byte[]> keys) {
      List<byte @Nullable []> values = new ArrayList<>();
      for (byte[] key : keys) {
        try {
          values.add(get(key));
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
      return values;
    }
  }
}
