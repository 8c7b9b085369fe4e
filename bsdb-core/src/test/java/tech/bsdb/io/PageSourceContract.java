package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** What every engine does. */
abstract class PageSourceContract {
  private static final int PAGES = 600;
  private static final int PAGE = PageSource.PAGE;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random(getClass().getSimpleName());
  private final byte[] content = Truth.bytes(random, PAGES * PAGE);
  private Path file;

  abstract Engine engine();

  @BeforeEach
  void write() throws IOException {
    file = Files.write(directory.resolve("file"), content);
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private PageSource open() throws IOException {
    return engine().open(file, content.length);
  }

  private void check(PageSource source, Window window, int first, int count) throws IOException {
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
  void aMissingFileIsNamed() {
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
}
