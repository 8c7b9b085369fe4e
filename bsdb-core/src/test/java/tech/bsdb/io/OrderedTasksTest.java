package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class OrderedTasksTest {
  private static final String NAME = "ordered-tasks-test";

  private final List<Integer> taken = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void noThreadIsLeft() {
    assertThat(Thread.interrupted()).isFalse();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain(NAME);
  }

  private OrderedTasks<Integer> tasks(int threads, int limit) {
    return new OrderedTasks<>(NAME, threads, limit, taken::add);
  }

  private static List<Integer> numbers(int count) {
    return IntStream.range(0, count).boxed().toList();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 5", "4, 1", "4, 4", "4, 9"})
  void resultsComeInTheOrderOfSubmission(int threads, int limit) throws Exception {
    AtomicInteger submitted = new AtomicInteger();
    AtomicInteger mostPending = new AtomicInteger();
    try (OrderedTasks<Integer> tasks = tasks(threads, limit)) {
      for (int i = 0; i < 300; i++) {
        int number = i;
        submitted.incrementAndGet();
        tasks.submit(
            () -> {
              mostPending.accumulateAndGet(submitted.get() - taken.size(), Math::max);
              Thread.sleep(number % 7 == 0 ? 2 : 0);
              return number;
            });
        assertThat(submitted.get() - taken.size()).isLessThan(limit);
      }
      tasks.drain();
      assertThat(taken).isEqualTo(numbers(300));
    }
    assertThat(mostPending.get()).isBetween(1, limit);
  }

  @Test
  void anEarlierResultIsWaitedFor() throws Exception {
    CountDownLatch last = new CountDownLatch(1);
    try (OrderedTasks<Integer> tasks = tasks(3, 4)) {
      tasks.submit(
          () -> {
            last.await();
            return 0;
          });
      tasks.submit(() -> 1);
      tasks.submit(
          () -> {
            last.countDown();
            return 2;
          });
      tasks.drain();
    }
    assertThat(taken).containsExactly(0, 1, 2);
  }

  @Test
  void aFailureIsTheOneOfTheTask() {
    IOException io = new IOException("bad");
    InterruptedException checked = new InterruptedException();
    assertThat(OrderedTasks.failure(new ExecutionException(io))).isSameAs(io);
    assertThat(OrderedTasks.failure(new ExecutionException(checked))).hasRootCause(checked);
    for (Throwable thrown : new Throwable[] {new IllegalStateException(), new AssertionError()}) {
      ExecutionException failure = new ExecutionException(thrown);
      assertThatThrownBy(() -> OrderedTasks.failure(failure)).isSameAs(thrown);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 57, 99})
  void aFailureFollowsTheResultsBeforeIt(int bad) {
    for (Throwable thrown :
        new Throwable[] {
          new IOException("bad"), new IllegalStateException(), new AssertionError()
        }) {
      taken.clear();
      try (OrderedTasks<Integer> tasks = tasks(3, 7)) {
        assertThatThrownBy(
                () -> {
                  for (int i = 0; i < 100; i++) {
                    int number = i;
                    tasks.submit(() -> number == bad ? fail(thrown) : number);
                  }
                  tasks.drain();
                })
            .isInstanceOf(ExecutionException.class)
            .cause()
            .isSameAs(thrown);
        assertThatThrownBy(tasks::drain).as("once more").cause().isSameAs(thrown);
      }
      assertThat(taken).isEqualTo(numbers(bad));
    }
  }

  @Test
  void theFirstFailureInOrderWins() throws Exception {
    CountDownLatch later = new CountDownLatch(1);
    try (OrderedTasks<Integer> tasks = tasks(2, 3)) {
      tasks.submit(
          () -> {
            later.await();
            throw new IOException("first in order");
          });
      tasks.submit(
          () -> {
            later.countDown();
            throw new IOException("first in time");
          });
      assertThatThrownBy(tasks::drain).cause().hasMessage("first in order");
    }
    assertThat(taken).isEmpty();
  }

  @Test
  void whatTheTakerThrowsArrives() {
    IOException full = new IOException("full");
    try (OrderedTasks<Integer> tasks =
        new OrderedTasks<>(
            NAME,
            2,
            3,
            result -> {
              taken.add(result);
              if (result == 2) {
                throw full;
              }
            })) {
      assertThatThrownBy(
              () -> {
                for (int number : numbers(20)) {
                  tasks.submit(() -> number);
                }
              })
          .isSameAs(full);
    }
    assertThat(taken).isEqualTo(numbers(3));
  }

  @Test
  void anInterruptEndsTheWaitAndIsKeptButNoTaskIsInterrupted() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    AtomicInteger ended = new AtomicInteger();
    OrderedTasks<Integer> tasks = tasks(1, 3);
    try {
      tasks.submit(
          () -> {
            started.countDown();
            released.await();
            return ended.incrementAndGet();
          });
      tasks.submit(ended::incrementAndGet);
      started.await();
      Thread.currentThread().interrupt();
      assertThatThrownBy(tasks::drain).isInstanceOf(InterruptedIOException.class);
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
    } finally {
      Thread waiter = Thread.currentThread();
      Thread releaser =
          new Thread(
              () -> {
                while (waiter.getState() != Thread.State.WAITING) {
                  pause();
                }
                released.countDown();
              });
      releaser.start();
      tasks.close();
      assertThat(Thread.interrupted()).isTrue();
      releaser.join();
    }
    assertThat(ended).as("the running task, and not the one that waited").hasValue(1);
    assertThat(taken).isEmpty();
  }

  @Test
  void closedTasksRunNoMore() throws Exception {
    OrderedTasks<Integer> tasks = tasks(2, 2);
    tasks.submit(() -> 0);
    tasks.close();
    tasks.close();
    assertThatThrownBy(() -> tasks.submit(() -> 1)).isInstanceOf(RejectedExecutionException.class);
  }

  private static void pause() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> int fail(Throwable thrown) throws T {
    throw (T) thrown;
  }
}
