package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.Leaks;

/** What every engine does that reads from the device, and its queues. */
abstract class QueueContract extends EngineContract {
  @Test
  void queuedRunsOfEveryLength() throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(2, true)) {
      Window window = new Window();
      for (int count = 1; count <= PageSource.MAX_RUN; count++) {
        queue.add(source, count, count, window, count);
        int length = count;
        queue.await(
            1,
            (tag, failure) -> {
              assertThat(failure).isNull();
              assertThat(tag).isEqualTo(length);
            });
        assertThat(queue.pending()).isZero();
        same(window, content, count, count);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, true", "2, false", "7, true", "64, true", "64, false", "300, false"})
  void everyQueuedReadIsHandedOverOnce(int depth, boolean oneThread) throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(depth, oneThread)) {
      assertThat(queue.depth()).isEqualTo(depth);
      Feed feed = new Feed(queue, source, depth, 3000);
      feed.fill();
      int atMost = 0;
      while (queue.pending() > 0) {
        queue.await(1 + random.nextInt(depth), feed);
        atMost = Math.max(atMost, queue.pending());
      }
      assertThat(feed.done.cardinality()).isEqualTo(3000);
      assertThat(atMost).isLessThanOrEqualTo(depth);
    }
  }

  /** Adds reads as long as there are some, and compares what they bring. */
  private final class Feed implements ReadQueue.Ended {
    private final ReadQueue queue;
    private final PageSource source;
    private final int reads;
    private final Window[] windows;
    private final ArrayDeque<Window> free = new ArrayDeque<>();
    private final int[] firsts;
    private final int[] counts;
    private final BitSet done = new BitSet();
    private int added;

    Feed(ReadQueue queue, PageSource source, int depth, int reads) {
      this.queue = queue;
      this.source = source;
      this.reads = reads;
      windows = new Window[reads];
      firsts = new int[reads];
      counts = new int[reads];
      for (int i = 0; i < depth; i++) {
        free.add(new Window());
      }
    }

    void fill() {
      while (added < reads && queue.pending() < queue.depth()) {
        counts[added] = 1 + random.nextInt(random.nextInt(20) == 0 ? PageSource.MAX_RUN : 3);
        firsts[added] = random.nextInt(PAGES - counts[added] + 1);
        windows[added] = free.remove();
        queue.add(source, firsts[added], counts[added], windows[added], added);
        added++;
      }
    }

    @Override
    public void ended(int tag, IOException failure) {
      assertThat(failure).isNull();
      assertThat(done.get(tag)).as("handed over before").isFalse();
      done.set(tag);
      same(windows[tag], content, firsts[tag], counts[tag]);
      free.add(windows[tag]);
      fill();
    }
  }

  @Test
  void misuseIsRefused() throws Exception {
    Engine engine = engine();
    assertThatThrownBy(() -> engine.queue(0, true)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> engine.queue(ReadQueue.MAX_DEPTH + 1, true))
        .isInstanceOf(IllegalArgumentException.class);
    try (PageSource source = engine.open(file, content.length)) {
      ReadQueue queue = engine.queue(1, false);
      Window window = new Window();
      assertThatThrownBy(() -> queue.add(source, 0, 0, window, 0))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> queue.add(source, 0, PageSource.MAX_RUN + 1, window, 0))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> queue.add(source, 0, 1, window, -1))
          .isInstanceOf(IllegalArgumentException.class);
      queue.add(source, 0, 1, window, 0);
      assertThatThrownBy(() -> queue.add(source, 0, 1, window, 0))
          .isInstanceOf(IllegalStateException.class);
      queue.close();
      queue.close();
      queue.wake();
      assertThatThrownBy(() -> queue.add(source, 0, 1, window, 0))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> queue.await(0, (tag, failure) -> {}))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(queue::awaitWork).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void whatEndedThrowsComesOutAndTheOthersAreHandedOverNext() throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(8, true)) {
      BitSet tags = new BitSet();
      for (int i = 0; i < 8; i++) {
        queue.add(source, i, 1, new Window(), i);
      }
      int thrown = 0;
      while (queue.pending() > 0) {
        try {
          queue.await(
              8,
              (tag, failure) -> {
                tags.set(tag);
                throw new IllegalArgumentException("on purpose");
              });
        } catch (IllegalArgumentException e) {
          thrown++;
        }
      }
      assertThat(tags.cardinality()).isEqualTo(8);
      assertThat(thrown).isEqualTo(8);
    }
  }

  @Test
  void anOwnerWithoutWorkWaitsUntilItIsWoken() throws Exception {
    Engine engine = engine();
    ExecutorService pool = Executors.newSingleThreadExecutor();
    AtomicReference<ReadQueue> shared = new AtomicReference<>();
    AtomicInteger returned = new AtomicInteger();
    try {
      Future<?> owner =
          pool.submit(
              () -> {
                try (ReadQueue queue = engine.queue(4, true)) {
                  shared.set(queue);
                  for (int i = 0; i < 200; i++) {
                    queue.awaitWork();
                    returned.incrementAndGet();
                  }
                }
                return null;
              });
      while (shared.get() == null) {
        Thread.onSpinWait();
      }
      TimeUnit.MILLISECONDS.sleep(50);
      assertThat(returned.get()).as("returned without being woken").isZero();
      for (int i = 0; i < 200; i++) {
        int before = returned.get();
        if (random.nextInt(4) == 0) {
          Thread.sleep(0, random.nextInt(200_000));
        }
        shared.get().wake();
        while (returned.get() == before && !owner.isDone()) {
          Thread.onSpinWait();
        }
      }
      owner.get(60, TimeUnit.SECONDS);
      shared.get().wake();
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void wakesFromManyThreadsLoseNoRead() throws Exception {
    Engine engine = engine();
    ExecutorService pool = Executors.newFixedThreadPool(2);
    AtomicBoolean done = new AtomicBoolean();
    try (PageSource source = engine.open(file, content.length)) {
      ReadQueue queue = engine.queue(8, true);
      List<Future<?>> wakers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        SplittableRandom own = random.split();
        wakers.add(
            pool.submit(
                () -> {
                  while (!done.get()) {
                    queue.wake();
                    Thread.sleep(0, own.nextInt(50_000));
                  }
                  return null;
                }));
      }
      try {
        Feed feed = new Feed(queue, source, 8, 2000);
        feed.fill();
        while (queue.pending() > 0) {
          queue.await(1 + random.nextInt(8), feed);
          if (random.nextInt(4) == 0) {
            queue.awaitWork();
          }
        }
        assertThat(feed.done.cardinality()).isEqualTo(2000);
        queue.close(); // while they go on
        TimeUnit.MILLISECONDS.sleep(5);
      } finally {
        done.set(true);
        queue.close();
      }
      for (Future<?> waker : wakers) {
        waker.get();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void aWakeBeforeTheWaitCounts() throws Exception {
    try (ReadQueue queue = engine().queue(4, true)) {
      for (int i = 0; i < 10; i++) {
        queue.wake();
        queue.wake();
        queue.awaitWork();
      }
      queue.await(1, (tag, failure) -> {}); // nothing pending: nothing to wait for
    }
  }

  @Test
  void workThatEndedIsNotWaitedFor() throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(4, true)) {
      Window window = new Window();
      queue.add(source, 9, 2, window, 5);
      queue.awaitWork();
      queue.awaitWork();
      BitSet tags = new BitSet();
      queue.await(0, (tag, failure) -> tags.set(tag));
      assertThat(tags.get(5)).isTrue();
      same(window, content, 9, 2);
    }
  }

  @Test
  void anInterruptOfTheOwnerMeansNothing() throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(4, true)) {
      Thread.currentThread().interrupt();
      Feed feed = new Feed(queue, source, 4, 500);
      feed.fill();
      while (queue.pending() > 0) {
        queue.await(2, feed);
      }
      check(source, new Window(), 3, 3);
      queue.wake();
      queue.awaitWork();
      assertThat(Thread.interrupted()).isTrue();
    } finally {
      Thread.interrupted();
    }
  }

  @Test
  void aQueueIsLentFromThreadToThreadWithReadsUnderWay() throws Exception {
    Engine engine = engine();
    ExecutorService one = Executors.newSingleThreadExecutor();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(16, false)) {
      Feed feed = new Feed(queue, source, 16, 2000);
      feed.fill();
      queue.await(0, feed);
      for (int turn = 0; queue.pending() > 0; turn++) {
        if (turn == 20) { // a thread that ends while its reads are under way
          Thread last = new Thread(() -> step(queue, feed));
          last.start();
          last.join();
        } else if (turn % 2 == 0) {
          one.submit(() -> step(queue, feed)).get();
        } else {
          step(queue, feed);
        }
      }
      assertThat(feed.done.cardinality()).isEqualTo(2000);
    } finally {
      one.shutdownNow();
    }
  }

  private static void step(ReadQueue queue, Feed feed) {
    try {
      queue.await(1, feed);
      queue.await(0, feed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void closingWaitsForWhatIsUnderWay() throws Exception {
    Engine engine = engine();
    for (int round = 0; round < 20; round++) {
      Window[] windows = new Window[32];
      try (PageSource source = engine.open(file, content.length)) {
        ReadQueue queue = engine.queue(32, round % 2 == 0);
        for (int i = 0; i < 32; i++) {
          windows[i] = new Window();
          queue.add(source, random.nextInt(PAGES - 64), 64, windows[i], i);
          if (i == 20) {
            queue.await(0, (tag, failure) -> {});
          }
        }
        if (round % 3 == 0) {
          queue.await(0, (tag, failure) -> {});
        }
        queue.close();
        if (engine.verifiesEveryRead()) {
          for (Window window : windows) { // writable memory of its own
            window.prepareAligned(64 * PAGE).putLong(0, 77).putLong(63 * PAGE, 78);
          }
          TimeUnit.MILLISECONDS.sleep(2);
          for (Window window : windows) {
            assertThat(window.buffer().getLong(0)).isEqualTo(77);
            assertThat(window.buffer().getLong(63 * PAGE)).isEqualTo(78);
          }
        }
      }
    }
  }

  @Test
  void aQueuedReadOfAFileThatWasCutNamesIt() throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(8, true)) {
      for (long length : new long[] {500L * PAGE, 499L * PAGE + 700, 3L * PAGE + 1, 0}) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
          channel.truncate(length);
        }
        long last = length / PAGE;
        for (long first = Math.max(0, last - 2); first <= last + 1; first++) {
          queue.add(source, first, 4, new Window(), 0);
          AtomicReference<IOException> failed = new AtomicReference<>();
          while (queue.pending() > 0) {
            queue.await(1, (tag, failure) -> failed.set(failure));
          }
          cut(failed.get(), first + 4);
        }
      }
    }
  }

  @Test
  void queuesLeaveNothing() throws Exception {
    Engine engine = engine();
    assumeTrue(Files.isDirectory(Path.of("/proc/self/fd")), "cannot be seen here");
    try (PageSource source = engine.open(file, content.length)) {
      long descriptors = 0;
      long mappings = 0;
      for (int i = 0; i < 60; i++) {
        try (ReadQueue queue = engine.queue(64, i % 2 == 0)) {
          queue.add(source, 5, 1, new Window(), 0);
          queue.await(1, (tag, failure) -> assertThat(failure).isNull());
          queue.wake();
          queue.awaitWork();
        }
        if (i == 5) {
          descriptors = ringDescriptors();
          mappings = rings();
        }
      }
      assertThat(ringDescriptors()).isLessThanOrEqualTo(descriptors);
      assertThat(rings()).isLessThanOrEqualTo(mappings);
    }
    Leaks.assertNoThread();
  }

  /** Descriptors of rings and of what wakes them, which nothing else in this process opens. */
  private static long ringDescriptors() throws IOException {
    long found = 0;
    try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
      for (Path link : links.toList()) {
        if (Files.isSymbolicLink(link) && isRing(link)) {
          found++;
        }
      }
    }
    return found;
  }

  private static boolean isRing(Path link) {
    try {
      String file = Files.readSymbolicLink(link).toString();
      return file.contains("io_uring") || file.contains("eventfd");
    } catch (IOException e) {
      return false; // the descriptor that listed them
    }
  }

  private static long rings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains("io_uring")).count();
    }
  }
}
