package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queued reads of files that lie elsewhere, where memory holds some of the pages. */
class RangeQueueTest extends QueueContract {
  private final ExecutorService threads = Executors.newFixedThreadPool(3);
  private final LocalRanges ranges = new LocalRanges(threads);

  @Override
  Engine engine() {
    return new RemoteEngine(ranges, path -> null, 100L * PAGE);
  }

  /** A file elsewhere does not vanish with a path here. */
  @BeforeEach
  void openElsewhere() throws IOException {
    ranges.open(file);
  }

  @AfterEach
  void close() throws IOException {
    threads.shutdown();
    ranges.close();
  }

  @Override
  @Test
  void aMissingFileIsNamed() {
    assertThat(engine().isDistant()).isTrue(); // it is named by its first read: RemoteEngineTest
  }

  /** Memory has what a file has lost. */
  @Override
  boolean noticesTheEnd() {
    return false;
  }

  @Override
  @Test
  void aQueuedReadOfAFileThatWasCutNamesIt() throws Exception {
    super.aQueuedReadOfAFileThatWasCutNamesIt(); // its pages were never read
  }

  /** Adds reads of runs, given as first page and count, and hands them all over. */
  private void readAll(ReadQueue queue, PageSource source, int... runs) throws IOException {
    List<Window> windows = new ArrayList<>();
    for (int i = 0; i < runs.length; i += 2) {
      windows.add(new Window());
      queue.add(source, runs[i], runs[i + 1], windows.get(i / 2), i / 2);
    }
    while (queue.pending() > 0) {
      queue.await(
          1,
          (tag, failure) -> {
            assertThat(failure).isNull();
            same(windows.get(tag), content, runs[2 * tag], runs[2 * tag + 1]);
          });
    }
  }

  private List<String> requests() {
    return ranges.take().stream().map(r -> r.first() + "+" + r.count()).sorted().toList();
  }

  @Test
  void neighboursShareARequest() throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length);
        PageSource other = engine.open(directory.resolve("other"), content.length);
        ReadQueue queue = engine.queue(16, true)) {
      readAll(queue, source, 120, 1, 100, 2, 110, 2, 101, 3, 200, 1);
      assertThat(requests()).as("up to 8 pages apart").containsExactly("100+21", "200+1");
      readAll(queue, source, 119, 1, 105, 4, 300, 1);
      assertThat(requests()).as("the others are in memory").containsExactly("300+1");
      readAll(queue, source, 0, 64, 64, 64, 128, 64, 192, 64, 256, 64);
      assertThat(requests()).as("at most 1 MiB").containsExactly("0+256", "256+64");
      readAll(queue, source, 0, 100, 100, 3);
      assertThat(requests()).as("long runs have their own").containsExactly("0+100", "100+3");
      queue.add(other, 350, 1, new Window(), 0);
      queue.add(source, 351, 1, new Window(), 1);
      queue.await(0, (tag, failure) -> {});
      assertThat(ranges.take()).as("of different files").hasSize(2);
    }
  }

  @Test
  void readsOfTheSamePagesShareARequest() throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(4, true)) {
      readAll(queue, source, 7, 2, 7, 2, 8, 1, 7, 1);
      assertThat(requests()).containsExactly("7+2");
    }
  }

  /** What asks for ranges may fail at once, and in any way. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFaultReachesEachRead(boolean atOnce) throws Exception {
    Ranges broken =
        (path, size, from, length) -> {
          if (atOnce) {
            throw new IllegalStateException("on purpose");
          }
          return CompletableFuture.failedFuture(new IllegalStateException("on purpose"));
        };
    Engine engine = new RemoteEngine(broken, path -> null, 0);
    List<Integer> failed = new ArrayList<>();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(8, true)) {
      for (int i = 0; i < 8; i++) {
        queue.add(source, 7 * i % 30, 1, new Window(), i);
      }
      while (queue.pending() > 0) {
        queue.await(
            1,
            (tag, failure) -> {
              assertThat(failure)
                  .hasMessageContaining(file + ": cannot be read at byte ")
                  .hasMessageContaining("on purpose")
                  .hasCauseInstanceOf(IllegalStateException.class);
              failed.add(tag);
            });
      }
    }
    assertThat(failed).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7);
  }

  @Test
  void closingWaitsForRequestsUnderWay() throws Exception {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    Engine engine = new RemoteEngine((path, size, from, length) -> answer, path -> null, 0);
    try (PageSource source = engine.open(file, content.length)) {
      ReadQueue queue = engine.queue(8, true);
      queue.add(source, 3, 1, new Window(), 0);
      queue.await(0, (tag, failure) -> {});
      CompletableFuture<Void> closed =
          CompletableFuture.runAsync(((RangeQueue) queue)::close, threads);
      while (!closed.isDone() && !answer.isDone()) {
        if (waitsInClose()) {
          answer.complete(new byte[PAGE]);
        }
      }
      assertThat(answer).as("what was under way when the queue was closed").isDone();
      closed.join();
    }
  }

  private static boolean waitsInClose() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(
            frame ->
                frame.getClassName().equals(HandoverQueue.class.getName())
                    && frame.getMethodName().equals("close"));
  }
}
