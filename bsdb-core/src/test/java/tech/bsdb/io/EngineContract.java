package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** What every engine does. */
@Tag("jdk")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class EngineContract {
  static final int PAGES = 600;
  static final int PAGE = PageSource.PAGE;

  @TempDir Path directory;

  final SplittableRandom random = Seeds.random(getClass().getSimpleName());
  final byte[] content = Truth.bytes(random, PAGES * PAGE);
  Path file;

  abstract Engine engine();

  @BeforeEach
  void write() throws IOException {
    file = Files.write(directory.resolve("file"), content);
    assumeAvailable();
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private PageSource open() throws IOException {
    return engine().open(file, content.length);
  }

  void check(PageSource source, Window window, int first, int count) throws IOException {
    source.read(first, count, window);
    byte[] found = new byte[count * PAGE];
    window.buffer().get(window.offset(), found);
    if (!Arrays.equals(found, 0, found.length, content, first * PAGE, (first + count) * PAGE)) {
      throw new AssertionError("other bytes on pages " + first + " to " + (first + count));
    }
    assertThat(window.buffer().order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
  }

  @Test
  void pagesAreShownAsTheyAre() throws Exception {
    try (PageSource source = open()) {
      Window window = new Window();
      check(source, window, 0, 1);
      check(source, window, PAGES - 1, 1);
      check(source, window, PAGES - PageSource.MAX_RUN, PageSource.MAX_RUN);
      for (int i = 0; i < 1000; i++) {
        int count = 1 + random.nextInt(random.nextBoolean() ? 3 : PageSource.MAX_RUN);
        check(source, window, random.nextInt(PAGES - count + 1), count);
      }
    }
  }

  /** Closing may leave unmapping to the garbage collector; a use that crashes ends all tests. */
  @Test
  void aBufferInUseDoesNotCrashAfterClose() throws Exception {
    PageSource source = open();
    List<ByteBuffer> used = new ArrayList<>();
    for (int page = 0; page < PAGES; page++) {
      Window window = new Window();
      source.read(page, 1, window);
      used.add(window.buffer().slice(window.offset(), PAGE));
    }
    source.close();
    for (int page = 0; page < PAGES; page++) {
      byte[] found = new byte[PAGE];
      try {
        used.get(page).get(found);
      } catch (IllegalStateException e) {
        continue;
      }
      assertThat(Arrays.equals(found, 0, PAGE, content, page * PAGE, (page + 1) * PAGE)).isTrue();
    }
    used.clear();
    for (int attempt = 0; attempt < 3000 && !Leaks.mappings(directory).isEmpty(); attempt++) {
      System.gc();
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void threadsReadAtOnceWithWindowsOfTheirOwn() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try (PageSource source = open()) {
      List<Future<?>> readers = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        SplittableRandom own = random.split();
        readers.add(
            pool.submit(
                () -> {
                  Window window = new Window();
                  for (int i = 0; i < 1000; i++) {
                    int count = 1 + own.nextInt(5);
                    check(source, window, own.nextInt(PAGES - count + 1), count);
                  }
                  return null;
                }));
      }
      for (Future<?> reader : readers) {
        reader.get();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void oneWindowServesManyFiles() throws Exception {
    try (PageSource one = open();
        PageSource two = open()) {
      Window window = new Window();
      check(one, window, 3, 200);
      check(two, window, 5, 1);
      check(one, window, 7, 2);
    }
  }

  @Test
  void aMissingFileIsNamed() throws Exception {
    Path missing = directory.resolve("missing");
    assertThatThrownBy(() -> engine().open(missing, PAGE))
        .isInstanceOfAny(NoSuchFileException.class, java.io.FileNotFoundException.class)
        .hasMessageContaining("missing");
  }

  @Test
  void aFileThatIsShorterThanItWasSaidToBeIsNamed() {
    assertThatThrownBy(
            () -> {
              try (PageSource source = engine().open(file, content.length + 4L * PAGE)) {
                source.read(PAGES, 2, new Window());
              }
            })
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString());
  }

  @Test
  void aFileMayBeDeletedWhileItIsOpen() throws Exception {
    try (PageSource source = open()) {
      Files.delete(file);
      check(source, new Window(), 300, 100);
    }
  }

  /** The engine's own way to be missing on this machine. */
  private void assumeAvailable() throws IOException {
    Engine engine = engine();
    if (engine instanceof UringEngine uring) {
      assumeTrue(uring.unavailable() == null, uring.unavailable());
    }
    if (engine.verifiesEveryRead() && !engine.isDistant()) {
      String reason = new DirectEngine().unavailable(file);
      assumeTrue(reason == null, reason);
    }
  }

  /** Whether bytes that the file has lost are missed by the read itself. */
  boolean noticesTheEnd() {
    return engine().verifiesEveryRead() || engine() instanceof BufferedEngine;
  }

  static void same(Window window, byte[] content, long first, int count) {
    byte[] found = new byte[count * PAGE];
    window.buffer().get(window.offset(), found);
    int from = (int) first * PAGE;
    if (!Arrays.equals(found, 0, found.length, content, from, from + found.length)) {
      throw new AssertionError("other bytes on pages " + first + " to " + (first + count));
    }
  }

  @Test
  void runsOfEveryLength() throws Exception {
    Engine engine = engine();
    try (PageSource source = engine.open(file, content.length)) {
      Window window = new Window();
      for (int count = 1; count <= PageSource.MAX_RUN; count++) {
        check(source, window, PAGES - count, count);
        check(source, window, count, count);
      }
    }
  }

  @Test
  void interruptsDisturbNobody() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    Set<Thread> readers = ConcurrentHashMap.newKeySet();
    try (PageSource source = open()) {
      Files.delete(file); // so that it cannot be opened again by its path
      List<Future<Integer>> results = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        SplittableRandom own = random.split();
        results.add(
            pool.submit(
                () -> {
                  readers.add(Thread.currentThread());
                  Window window = new Window();
                  int seen = 0;
                  // Until one was seen: where none is kept, that never ends.
                  for (int i = 0; i < 1500 || seen == 0; i++) {
                    check(source, window, own.nextInt(PAGES - 3), 1 + own.nextInt(3));
                    seen += Thread.interrupted() ? 1 : 0;
                  }
                  return seen;
                }));
      }
      SplittableRandom own = random.split();
      while (!results.stream().allMatch(Future::isDone)) {
        readers.forEach(Thread::interrupt);
        TimeUnit.MICROSECONDS.sleep(own.nextInt(300));
      }
      int seen = 0;
      for (Future<Integer> result : results) {
        seen += result.get();
      }
      assertThat(seen).as("interrupts that were kept").isGreaterThanOrEqualTo(4);
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void aFileThatWasCutWhileOpenIsNamed() throws Exception {
    Engine engine = engine();
    assumeTrue(noticesTheEnd(), "what is in memory is not missed");
    try (PageSource source = engine.open(file, content.length)) {
      for (long length : new long[] {500L * PAGE, 499L * PAGE + 700, 3L * PAGE + 1, 0}) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
          channel.truncate(length);
        }
        long last = length / PAGE;
        Window window = new Window();
        if (last > 0) {
          check(source, window, 0, (int) Math.min(last, 100));
        }
        for (long first = Math.max(0, last - 2); first <= last + 1; first++) {
          long from = first;
          assertThatThrownBy(() -> source.read(from, 4, window)).satisfies(e -> cut(e, from + 4));
        }
      }
    }
  }

  void cut(Throwable failure, long end) {
    assertThat(failure)
        .isInstanceOf(EOFException.class)
        .hasMessage(file + ": ends before byte " + end * PAGE + "; it was cut short while open");
  }

  static int descriptors() {
    String[] names = new java.io.File("/proc/self/fd").list();
    return names == null ? 0 : names.length;
  }
}
