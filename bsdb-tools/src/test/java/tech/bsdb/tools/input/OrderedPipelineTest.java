package tech.bsdb.tools.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class OrderedPipelineTest {
  private static final String NAMES = "ordered-pipeline-test-";
  private static final int LANES = 60;

  private final Object monitor = new Object();
  private final AtomicInteger nextLane = new AtomicInteger();
  private final List<String> taken = new ArrayList<>();

  @AfterEach
  void noWorkerIsLeft() {
    assertThat(Thread.interrupted()).isFalse();
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith(NAMES));
  }

  private OrderedPipeline<String> pipeline(int threads) {
    OrderedPipeline<String> pipeline = new OrderedPipeline<>(monitor, NAMES, threads);
    pipeline.setLanes(LANES);
    return pipeline;
  }

  private void take(long lane, String result) {
    assertThat(result).startsWith(lane + ".");
    taken.add(result);
  }

  /** Three results for each lane that is a multiple of three, one or two for others. */
  private static List<String> resultsOf(int lane) {
    return IntStream.range(0, 3 - lane % 3).mapToObj(i -> lane + "." + i).toList();
  }

  private static List<String> resultsBefore(int lane) {
    return IntStream.range(0, lane).boxed().flatMap(each -> resultsOf(each).stream()).toList();
  }

  /** Fills lane after lane; the bad one has its results, and then the failure. */
  private void fillLanes(OrderedPipeline<String> pipeline, int bad, Throwable failure) {
    for (int lane = nextLane.getAndIncrement(); lane < LANES; lane = nextLane.getAndIncrement()) {
      for (String result : resultsOf(lane)) {
        pause(lane % 5 == 0 ? 2 : 0);
        pipeline.add(lane, result);
      }
      pipeline.end(lane, lane == bad ? failure : null);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7})
  void resultsComeInTheOrderOfTheLanes(int threads) throws IOException {
    OrderedPipeline<String> pipeline = pipeline(threads);
    pipeline.run(() -> fillLanes(pipeline, -1, null), this::take);
    assertThat(taken).isEqualTo(resultsBefore(LANES));
  }

  @Test
  void thereMayBeNoLanes() throws IOException {
    OrderedPipeline<String> pipeline = pipeline(0);
    pipeline.setLanes(0);
    pipeline.run(() -> {}, this::take);
    assertThat(taken).isEmpty();
  }

  @Test
  void theNumberOfLanesMayBecomeKnownWhileTheyAreAwaited() throws IOException {
    OrderedPipeline<String> pipeline = new OrderedPipeline<>(monitor, NAMES, 1);
    pipeline.run(
        () -> {
          pipeline.add(0, "0.0");
          pipeline.end(0, null);
          pause(10);
          pipeline.setLanes(1);
        },
        this::take);
    assertThat(taken).containsExactly("0.0");
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "3, 0", "3, 4", "7, 20"})
  void workersWaitForRoomExceptOnTheAwaitedLane(int threads, int most) throws IOException {
    OrderedPipeline<String> pipeline = pipeline(threads);
    int[] held = {0}; // guarded by the monitor
    int[] mostHeld = {0};
    pipeline.run(
        () -> {
          for (int lane = nextLane.getAndIncrement();
              lane < LANES;
              lane = nextLane.getAndIncrement()) {
            int own = lane;
            for (String result : resultsOf(lane)) {
              synchronized (monitor) {
                assertThat(pipeline.await(() -> held[0] < most || pipeline.isAwaited(own)))
                    .isTrue();
                mostHeld[0] = Math.max(mostHeld[0], ++held[0]);
                pipeline.add(lane, result);
              }
            }
            pipeline.end(lane, null);
          }
        },
        (lane, result) -> {
          take(lane, result);
          synchronized (monitor) {
            held[0]--;
            monitor.notifyAll();
          }
        });
    assertThat(taken).isEqualTo(resultsBefore(LANES));
    // The taker's own and the one that it awaits come on top.
    assertThat(mostHeld[0]).isBetween(1, most + 2);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, LANES - 1})
  void aFailureFollowsTheResultsBeforeIt(int bad) {
    for (Throwable failure :
        new Throwable[] {
          new IOException("bad"), new IllegalStateException(), new AssertionError()
        }) {
      taken.clear();
      nextLane.set(0);
      OrderedPipeline<String> pipeline = pipeline(3);
      assertThatThrownBy(() -> pipeline.run(() -> fillLanes(pipeline, bad, failure), this::take))
          .isSameAs(failure);
      assertThat(taken).isEqualTo(resultsBefore(bad + 1));
    }
  }

  @Test
  void theFirstFailureInOrderWins() {
    CountDownLatch later = new CountDownLatch(1);
    OrderedPipeline<String> pipeline = pipeline(2);
    assertThatThrownBy(
            () ->
                pipeline.run(
                    () -> {
                      int lane = nextLane.getAndIncrement();
                      if (lane == 0) {
                        awaitQuietly(later);
                      }
                      pipeline.end(lane, new IOException("lane " + lane));
                      later.countDown();
                    },
                    this::take))
        .hasMessage("lane 0");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatAWorkerThrowsArrivesEvenAfterAllResults(boolean allResults) {
    IOException broken = new IOException("broken");
    OrderedPipeline<String> pipeline = pipeline(2);
    assertThatThrownBy(
            () ->
                pipeline.run(
                    () -> {
                      if (allResults) {
                        fillLanes(pipeline, -1, null);
                      }
                      throw broken;
                    },
                    this::take))
        .isSameAs(broken);
    if (allResults) {
      assertThat(taken).isSubsetOf(resultsBefore(LANES));
    } else {
      assertThat(taken).isEmpty();
    }
  }

  @Test
  void whatTheTakerThrowsEndsTheRun() {
    IOException full = new IOException("full");
    OrderedPipeline<String> pipeline = pipeline(3);
    assertThatThrownBy(
            () ->
                pipeline.run(
                    () -> fillLanes(pipeline, -1, null),
                    (lane, result) -> {
                      take(lane, result);
                      if (lane == 7) {
                        throw full;
                      }
                    }))
        .isSameAs(full);
    assertThat(taken).hasSize(resultsBefore(7).size() + 1);
  }

  @Test
  void aStoppedRunEndsWithAnException() {
    OrderedPipeline<String> pipeline = pipeline(3);
    assertThatThrownBy(
            () ->
                pipeline.run(
                    () -> {
                      pipeline.stop();
                      fillLanes(pipeline, -1, null); // too late
                    },
                    this::take))
        .isInstanceOf(InputException.class)
        .hasMessage("stopped before the end of the input");
    assertThat(taken).isEmpty();
  }

  @Test
  void anInterruptEndsTheRunAndIsKeptButNoWorkerIsInterrupted() {
    AtomicInteger unharmed = new AtomicInteger();
    OrderedPipeline<String> pipeline = pipeline(3);
    Thread caller = Thread.currentThread();
    assertThatThrownBy(
            () ->
                pipeline.run(
                    () -> {
                      caller.interrupt();
                      synchronized (monitor) {
                        assertThat(pipeline.await(() -> false)).isFalse();
                      }
                      pause(20); // the caller waits in spite of its interrupt
                      unharmed.incrementAndGet();
                    },
                    this::take))
        .isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(unharmed).hasValue(3);
  }

  @Test
  void aWorkerLeftBehindIsNotWaitedFor() throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    Thread[] left = new Thread[1];
    OrderedPipeline<String> pipeline = pipeline(2);
    assertThatThrownBy(
            () ->
                pipeline.run(
                    () -> {
                      if (nextLane.getAndIncrement() == 0) {
                        left[0] = Thread.currentThread();
                        pipeline.leaveBehind(left[0]);
                        pipeline.end(0, new IOException("while another blocks"));
                        awaitQuietly(blocked);
                      }
                    },
                    this::take))
        .hasMessage("while another blocks");
    assertThat(left[0].isAlive()).isTrue();
    blocked.countDown();
    left[0].join();
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
