package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Leaks;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** What the engines make of a system that refuses, fails, or does only a part. */
@Tag("jdk")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SystemRefusalsTest {
  private static final int PAGE = PageSource.PAGE;
  private static final int PAGES = 300;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SystemRefusalsTest");
  private final byte[] content = Truth.bytes(random, PAGES * PAGE);
  private Path file;
  private FaultyCalls calls;

  @BeforeEach
  void write() throws IOException {
    file = Files.write(directory.resolve("file"), content);
    calls = FaultyCalls.create();
    assumeTrue(calls != null, LinuxCalls.unavailable());
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    if (calls != null) {
      assertThat(calls.held).isEmpty();
    }
    Leaks.assertNone(directory);
  }

  private void assumeRings() {
    String reason = new UringEngine().unavailable();
    assumeTrue(reason == null, reason);
  }

  @ParameterizedTest
  @CsvSource({
    "38, no io_uring (ENOSYS)",
    "1, forbidden (EPERM)",
    "12, may be locked for a ring (ENOMEM)",
    "22, too old",
    "24, Too many open files",
    "77, error 77"
  })
  void aRefusedRingSaysWhy(int errno, String words) throws Exception {
    calls.onRingSetup = flags -> -errno;
    UringEngine engine = new UringEngine(calls);
    assertThat(engine.unavailable()).contains(words);
    assertThatThrownBy(() -> engine.queue(64, true))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(words);
    engine.open(file, content.length).close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aRingThatIsRefusedHalfwayLeavesNothing(int step) {
    assumeRings();
    calls.onMapRing = offset -> step == (offset == 0 ? 0 : 1) ? -Errno.ENOMEM : 0;
    calls.onEventCounter = zero -> step == 2 ? -Errno.EMFILE : 0;
    assertThatThrownBy(() -> new UringEngine(calls).queue(8, true))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(step == 2 ? "Too many open files" : "ENOMEM");
  }

  @Test
  void aKernelWithoutTheNewerFlagsIsAskedForFewer() throws Exception {
    assumeRings();
    for (int known : new int[] {0, 1 << 7 | 1 << 8, 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13}) {
      calls = FaultyCalls.create();
      calls.onRingSetup = flags -> (flags & ~known) != 0 ? -Errno.EINVAL : 0;
      for (boolean oneThread : new boolean[] {true, false}) {
        readAll(16, oneThread);
      }
      assertThat(calls.held).isEmpty();
    }
  }

  @Test
  void aKernelThatKnowsTooLittleIsRefused() {
    assumeRings();
    calls.featuresHidden = 1 << 5;
    assertThatThrownBy(() -> new UringEngine(calls).queue(8, true))
        .isInstanceOf(IOException.class)
        .hasMessage(UringEngine.TOO_OLD);
  }

  @Test
  void aFileThatCannotBeOpenedIsNamed() {
    Map<Integer, Class<?>> kinds = new HashMap<>();
    kinds.put(Errno.ENOENT, NoSuchFileException.class);
    kinds.put(Errno.EACCES, AccessDeniedException.class);
    for (int errno : new int[] {Errno.ENOENT, Errno.EACCES, Errno.EMFILE, Errno.EIO, 22, 99}) {
      calls.onOpen = zero -> -errno;
      for (Engine engine : engines()) {
        assertThatThrownBy(() -> engine.open(file, content.length))
            .isInstanceOf(kinds.getOrDefault(errno, IOException.class))
            .hasMessageContaining(file.toString());
      }
    }
    calls.onOpen = zero -> -Errno.EMFILE;
    assertThatThrownBy(() -> new DirectEngine(calls, 1).open(file, content.length))
        .hasMessageContaining("Too many open files");
    calls.onOpen = zero -> -Errno.EINVAL;
    assertThatThrownBy(() -> new DirectEngine(calls, 1).open(file, content.length))
        .hasMessageContaining(DirectEngine.REFUSED);
  }

  private List<Engine> engines() {
    return List.of(
        new BufferedEngine(calls),
        new DirectEngine(calls, 4),
        new UringEngine(calls),
        new LoadedEngine(calls));
  }

  @Test
  void aReadGoesOnAfterInterruptionsAndShortAnswers() throws Exception {
    calls.onOpen = zero -> random.nextInt(2) == 0 ? -Errno.EINTR : 0;
    calls.onPread =
        length -> {
          int kind = random.nextInt(4);
          return kind == 0
              ? -Errno.EINTR
              : kind == 1 && length > PAGE ? random.nextLong(length / PAGE) * PAGE + PAGE : length;
        };
    for (Engine engine : engines()) {
      try (PageSource source = engine.open(file, content.length)) {
        Window window = new Window();
        for (int i = 0; i < 200; i++) {
          int count = 1 + random.nextInt(PageSource.MAX_RUN);
          int first = random.nextInt(PAGES - count + 1);
          source.read(first, count, window);
          same(window, first, count);
        }
      }
    }
  }

  @Test
  void aFailingDeviceIsAnErrorThatNamesFileAndPlace() throws Exception {
    calls.onPread = length -> -Errno.EIO;
    for (Engine engine :
        List.of(new BufferedEngine(calls), new DirectEngine(calls, 4), new UringEngine(calls))) {
      try (PageSource source = engine.open(file, content.length)) {
        assertThatThrownBy(() -> source.read(7, 2, new Window()))
            .isInstanceOf(IOException.class)
            .hasMessage(file + ": cannot be read at byte 28672: Input/output error");
      }
    }
    assertThatThrownBy(() -> new LoadedEngine(calls).open(file, content.length))
        .hasMessageContaining("Input/output error");
    try (PageSource source = new DirectEngine(calls, 4).open(file, content.length);
        ReadQueue queue = new DirectEngine(calls, 4).queue(4, true)) {
      queue.add(source, 3, 1, new Window(), 0);
      AtomicReference<IOException> failed = new AtomicReference<>();
      queue.await(1, (tag, failure) -> failed.set(failure));
      assertThat(failed.get()).hasMessageContaining("at byte 12288: Input/output error");
    }
  }

  @Test
  void aDeviceThatGivesAPartOfAPageIsNotTheEndOfTheFile() throws Exception {
    calls.onPread = length -> 512;
    try (PageSource source = new DirectEngine(calls, 4).open(file, content.length)) {
      assertThatThrownBy(() -> source.read(7, 2, new Window()))
          .isExactlyInstanceOf(IOException.class)
          .hasMessageContaining("the device returned only 512 bytes");
    }
  }

  @Test
  void memoryThatCannotBeHadIsAnError() {
    calls.onMapMemory = zero -> -Errno.ENOMEM;
    assertThatThrownBy(() -> new LoadedEngine(calls).open(file, content.length))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("Cannot allocate memory");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aQueuedReadGoesOnAfterInterruptionsAndShortAnswers(boolean oneThread) throws Exception {
    assumeRings();
    calls.onCompletion =
        result ->
            switch (random.nextInt(6)) {
              case 0 -> -Errno.EINTR;
              case 1 -> -Errno.EAGAIN;
              case 2 -> -Errno.ECANCELED;
              case 3 -> result > PAGE ? random.nextInt(result / PAGE) * PAGE + PAGE : result;
              case 4 -> result > PAGE ? result - 77 : result;
              default -> result;
            };
    calls.onRingEnter =
        submit ->
            switch (random.nextInt(8)) {
              case 0 -> -Errno.EINTR;
              case 1 -> random.nextBoolean() ? -Errno.EAGAIN : -Errno.EBUSY;
              default -> 0;
            };
    readAll(1, oneThread);
    readAll(32, oneThread);
  }

  private void readAll(int depth, boolean oneThread) throws IOException {
    UringEngine engine = new UringEngine(calls);
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(depth, oneThread)) {
      Window[] windows = new Window[depth];
      Arrays.setAll(windows, i -> new Window());
      int[] first = new int[depth];
      int[] count = new int[depth];
      AtomicInteger left = new AtomicInteger(500);
      ReadQueue.Ended next =
          new ReadQueue.Ended() {
            @Override
            public void ended(int tag, IOException failure) {
              assertThat(failure).isNull();
              same(windows[tag], first[tag], count[tag]);
              if (left.decrementAndGet() > 0) {
                add(tag);
              }
            }

            void add(int tag) {
              count[tag] = 1 + random.nextInt(9);
              first[tag] = random.nextInt(PAGES - 9);
              queue.add(source, first[tag], count[tag], windows[tag], tag);
            }
          };
      for (int i = 0; i < depth; i++) {
        count[i] = 1;
        first[i] = i;
        queue.add(source, i, 1, windows[i], i);
      }
      while (queue.pending() > 0) {
        queue.await(1 + random.nextInt(depth), next);
      }
      assertThat(left.get()).isNotPositive();
    }
  }

  private void same(Window window, int first, int count) {
    byte[] found = new byte[count * PAGE];
    window.buffer().get(window.offset(), found);
    if (!Arrays.equals(found, 0, found.length, content, first * PAGE, (first + count) * PAGE)) {
      throw new AssertionError("other bytes on pages " + first + " to " + (first + count));
    }
  }

  @Test
  void aQueuedReadThatFailsIsHandedOverAsAFailureAndTheOthersAreNot() throws Exception {
    assumeRings();
    AtomicInteger completed = new AtomicInteger();
    calls.onCompletion = result -> completed.getAndIncrement() % 3 == 0 ? -Errno.EIO : result;
    UringEngine engine = new UringEngine(calls);
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(30, true)) {
      for (int i = 0; i < 30; i++) {
        queue.add(source, i, 1, new Window(), i);
      }
      List<IOException> failures = new ArrayList<>();
      BitSet tags = new BitSet();
      queue.await(
          30,
          (tag, failure) -> {
            tags.set(tag);
            if (failure != null) {
              failures.add(failure);
              assertThat(failure)
                  .hasMessage(
                      file + ": cannot be read at byte " + tag * PAGE + ": Input/output error");
            }
          });
      assertThat(failures).hasSize(10);
      assertThat(tags.cardinality()).isEqualTo(30);
    }
  }

  @Test
  void aKernelThatDoesNotGoOnIsAnErrorAndNothingIsFreed() throws Exception {
    assumeRings();
    UringEngine engine = new UringEngine(calls);
    try (PageSource source = engine.open(file, content.length)) {
      ReadQueue queue = engine.queue(8, true);
      queue.add(source, 1, 1, new Window(), 0);
      calls.onRingEnter = submit -> -Errno.EAGAIN;
      assertThatThrownBy(() -> queue.await(1, (tag, failure) -> {}))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("io_uring_enter failed");
      assertThat(queue.pending()).isEqualTo(1);
      calls.onRingEnter = submit -> 0;
      queue.await(1, (tag, failure) -> assertThat(failure).isNull());
      queue.close();
    }
  }

  @Test
  void aQueueForOneThreadRefusesOthers() throws Exception {
    assumeRings();
    UringEngine engine = new UringEngine(calls);
    ExecutorService other = Executors.newSingleThreadExecutor();
    try (PageSource source = engine.open(file, content.length);
        ReadQueue queue = engine.queue(8, true)) {
      assumeTrue((((UringQueue) queue).flags() & 1 << 12) != 0, "this kernel does not care");
      queue.add(source, 1, 1, new Window(), 0);
      Future<?> stranger =
          other.submit(
              () -> {
                queue.await(1, (tag, failure) -> {});
                return null;
              });
      assertThatThrownBy(stranger::get).hasCauseInstanceOf(IllegalStateException.class);
      queue.await(1, (tag, failure) -> assertThat(failure).isNull());
    } finally {
      other.shutdownNow();
    }
  }

  @Test
  void aWaitForAReadThatDoesNotEndIsEndedByAWake() throws Exception {
    assumeRings();
    calls.onEvent = result -> random.nextBoolean() ? -Errno.ECANCELED : result;
    int counter = calls.eventCounter();
    ExecutorService pool = Executors.newSingleThreadExecutor();
    try (NativeFile stuck = FaultyCalls.stuck(calls, counter)) {
      ReadQueue queue = UringQueue.open(calls, 4, false);
      queue.add(stuck, 0, 1, new Window(), 3);
      for (int i = 0; i < 50; i++) {
        Future<?> wait =
            pool.submit(
                () -> {
                  queue.await(1, (tag, failure) -> {});
                  return null;
                });
        TimeUnit.MICROSECONDS.sleep(random.nextInt(500));
        assertThat(wait.isDone()).isFalse();
        queue.wake();
        wait.get(30, TimeUnit.SECONDS);
        assertThat(queue.pending()).isEqualTo(1);
      }
      Future<?> closing =
          pool.submit(
              () -> {
                queue.close();
                return null;
              });
      TimeUnit.MILLISECONDS.sleep(50);
      assertThat(closing.isDone()).as("closes while the kernel may write").isFalse();
      calls.countEvent(counter);
      closing.get(30, TimeUnit.SECONDS);
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void whoIsBusyIsWokenWithoutASystemCall() throws Exception {
    assumeRings();
    AtomicInteger counted = new AtomicInteger();
    try (ReadQueue queue = UringQueue.open(calls, 4, true)) {
      calls.onEvent =
          result -> {
            counted.incrementAndGet();
            return result;
          };
      int before = calls.enters;
      for (int i = 0; i < 1000; i++) {
        queue.wake();
      }
      assertThat(calls.enters).isEqualTo(before);
      queue.awaitWork();
      assertThat(counted.get()).isZero();
    }
  }

  @Test
  void aPoolsWaitIsEndedByAWakeAndItsCloseWaits() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    PageSource slow =
        new PageSource() {
          @Override
          public void read(long first, int count, Window window) throws IOException {
            try {
              gate.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
            if (first == 1) {
              throw new IllegalStateException("on purpose");
            }
          }

          @Override
          public void close() {}
        };
    ExecutorService pool = Executors.newSingleThreadExecutor();
    try {
      ReadQueue queue = new DirectEngine(calls, 2).queue(8, false);
      for (int i = 0; i < 8; i++) {
        queue.add(slow, i, 1, new Window(), i);
      }
      queue.wake();
      queue.await(8, (tag, failure) -> {});
      assertThat(queue.pending()).isEqualTo(8);
      Future<?> all =
          pool.submit(
              () -> {
                BitSet failed = new BitSet();
                queue.await(8, (tag, failure) -> failed.set(tag, failure != null));
                assertThat(failed.toString()).isEqualTo("{1}");
                queue.add(slow, 5, 1, new Window(), 5);
                queue.await(0, (tag, failure) -> {});
                queue.close();
                return null;
              });
      TimeUnit.MILLISECONDS.sleep(20);
      assertThat(all.isDone()).isFalse();
      gate.countDown();
      all.get(30, TimeUnit.SECONDS);
    } finally {
      pool.shutdownNow();
    }
  }
}
