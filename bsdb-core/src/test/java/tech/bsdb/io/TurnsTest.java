package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TurnsTest {
  private final Turns turns = new Turns();

  @Test
  void turnsComeInOrderWhateverTheOrderOfTheWaits() throws Exception {
    List<Integer> numbers = new ArrayList<>(IntStream.range(0, 50).boxed().toList());
    Collections.shuffle(numbers, new java.util.Random(5));
    List<Integer> taken = new ArrayList<>(); // guarded by the turns
    List<Thread> threads = new ArrayList<>();
    for (int number : numbers) {
      Thread thread =
          new Thread(
              () -> {
                turns.await(number);
                taken.add(number);
                turns.pass();
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(taken).isEqualTo(IntStream.range(0, 50).boxed().toList());
  }

  @Test
  void nobodyWaitsForATaskThatFailed() throws Exception {
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> turns.await(3));
    turns.pass();
    turns.end(2);
    turns.end(3);
    assertThatThrownBy(waiting::join)
        .hasRootCauseInstanceOf(CancellationException.class)
        .hasMessageContaining("no turn comes any more");
    assertThatThrownBy(() -> turns.await(4)).isInstanceOf(CancellationException.class);
  }

  @Test
  void tasksBeforeOneThatFailedHaveTheirTurns() throws Exception {
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> turns.await(1));
    turns.end(2);
    turns.await(0);
    turns.pass();
    waiting.join();
    turns.pass();
    turns.await(2);
    assertThatThrownBy(() -> turns.await(3)).isInstanceOf(CancellationException.class);
  }

  /** The task before the one that waits was cancelled before it began. */
  @Test
  void closingEndsAllWaits() throws Exception {
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> turns.await(1));
    turns.close();
    assertThatThrownBy(waiting::join).hasRootCauseInstanceOf(CancellationException.class);
    assertThatThrownBy(() -> turns.await(0)).isInstanceOf(CancellationException.class);
  }

  @Test
  void anInterruptDoesNotEndAWait() throws Exception {
    boolean[] found = new boolean[2];
    Thread thread =
        new Thread(
            () -> {
              turns.await(1);
              found[0] = true;
              found[1] = Thread.currentThread().isInterrupted();
            });
    thread.start();
    thread.interrupt();
    turns.pass();
    thread.join();
    assertThat(found).containsExactly(true, true);
  }
}
