package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SyncWorkerTest {
  private static final KeySet KEYS = FakeAnswers.keys(1000);

  @Test
  void aStallIsSeenByEveryRequestThatWasDueMeanwhile() throws IOException {
    long stall = TimeUnit.MILLISECONDS.toNanos(200);
    boolean[] stalled = new boolean[1];
    SyncTarget target =
        new Fake() {
          @Override
          public byte[] get(byte[] key) throws IOException {
            if (!stalled[0]) {
              stalled[0] = true;
              long until = System.nanoTime() + stall;
              while (System.nanoTime() < until) {
                LockSupport.parkNanos(until - System.nanoTime());
              }
            }
            return super.get(key);
          }
        };
    Tally tally = new Tally(new Answers(KEYS, 0));
    long begin = System.nanoTime();
    worker(target, 1, 1000).run(begin, begin + 5 * stall, tally);
    // At 1,000 a second some 200 requests were due in the stall, and half of those over 100 ms
    // late. A load that waits for answers would have seen a single slow one.
    assertThat(tally.latency().getCountBetweenValues(stall / 2, Long.MAX_VALUE / 2))
        .isGreaterThan(90);
    assertThat(tally.latestNanos()).isGreaterThan(stall / 2);
  }

  @Test
  void anOpenLoopThatCannotKeepUpSaysWhatItOwes() throws IOException {
    SyncTarget target =
        new Fake() {
          @Override
          public byte[] get(byte[] key) throws IOException {
            LockSupport.parkNanos(1_000_000);
            return super.get(key);
          }
        };
    Tally tally = new Tally(new Answers(KEYS, 0));
    long begin = System.nanoTime();
    worker(target, 1, 100_000).run(begin, begin + 100_000_000, tally);
    assertThat(tally.hits() + tally.notSent()).isEqualTo(10_000);
    assertThat(tally.notSent()).isGreaterThan(5_000);
  }

  @Test
  void batchesCountEveryKey() throws IOException {
    Tally tally = new Tally(new Answers(KEYS, 0));
    long begin = System.nanoTime();
    worker(new Fake(), 64, 0).run(begin, begin + 500_000_000, tally);
    assertThat(tally.hits()).isPositive().isEqualTo(tally.done());
    assertThat(tally.hits() % 64).isZero();
    assertThat(tally.latency().getTotalCount()).isEqualTo(tally.hits());
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
    long begin = System.nanoTime();
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
    long begin = System.nanoTime();
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
    long begin = System.nanoTime();
    worker(target, 1, 0).run(begin, begin + 500_000_000, tally);
    assertThat(tally.errors()).isPositive();
    assertThat(tally.firstError()).isEqualTo("device gone");
    assertThat(tally.hits()).isPositive();
  }

  private static SyncWorker worker(SyncTarget target, int batch, double rate) {
    return new SyncWorker(target, KEYS, FakeAnswers.order(KEYS), batch, rate, 0, 1, () -> false);
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
