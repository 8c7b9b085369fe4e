package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages are verified when they must be, whichever way they came. */
class CheckedPagesTest {
  private static final int PAGES = 8;

  @TempDir Path directory;

  private final List<Long> checked = new ArrayList<>();
  private final ReadCount reads = new ReadCount();
  private final Window window = new Window();
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = directory.resolve("file");
    byte[] content = new byte[PAGES * PageSource.PAGE];
    for (int i = 0; i < PAGES; i++) {
      content[i * PageSource.PAGE] = (byte) i;
    }
    Files.write(file, content);
  }

  private CheckedPages open(CheckedPages.Check check, boolean everyRead) throws IOException {
    PageSource source = new BufferedEngine().open(file, PAGES * PageSource.PAGE);
    return new CheckedPages(source, PAGES, check, everyRead, reads);
  }

  private int check(Window window, int offset, long number) throws IOException {
    checked.add(number);
    if (window.buffer().get(offset) != number) {
      throw new IOException("page " + number);
    }
    return 0;
  }

  @Test
  void onceWhereTheBytesStay() throws Exception {
    try (CheckedPages pages = open(this::check, false)) {
      assertThat(pages.touched(2, 1)).isFalse();
      pages.read(2, 2, window);
      pages.read(2, 3, window);
      assertThat(checked).containsExactly(2L, 3L, 4L);
      assertThat(pages.touched(2, 3)).isTrue();
      assertThat(pages.touched(2, 4)).isFalse();
      assertThat(pages.touched(1, 2)).isFalse();
    }
  }

  @Test
  void everyTimeWhereTheyComeAnew() throws Exception {
    try (CheckedPages pages = open(this::check, true)) {
      pages.read(2, 2, window);
      pages.read(2, 1, window);
      assertThat(checked).containsExactly(2L, 3L, 2L);
      assertThat(pages.touched(2, 1)).isFalse();
    }
  }

  @Test
  void afterAQueuedReadToo() throws Exception {
    try (CheckedPages pages = open(this::check, false);
        ReadQueue queue = new DirectEngine(1).queue(1, true)) {
      queue.add(pages.source(), 5, 2, window, 0);
      queue.await(1, (tag, failure) -> assertThat(failure).isNull());
      assertThat(checked).isEmpty();
      pages.verify(5, 2, window);
      assertThat(checked).containsExactly(5L, 6L);
      assertThat(pages.touched(5, 2)).isTrue();
      assertThatThrownBy(() -> pages.verify(0, 1, window)).hasMessage("page 0");
      assertThat(pages.touched(0, 1)).isFalse();
    }
  }

  @Test
  void neverWhereAllAreTrusted() throws Exception {
    for (boolean everyRead : new boolean[] {true, false}) {
      try (CheckedPages pages = open(null, everyRead)) {
        pages.read(0, PAGES - 1, window);
        pages.verify(0, 1, window);
        assertThat(pages.touched(0, 1)).isFalse();
      }
    }
  }

  @Test
  void everyReadCountsWhetherVerifiedOrNot() throws Exception {
    for (CheckedPages.Check check : Arrays.<CheckedPages.Check>asList(this::check, null)) {
      long before = reads.reads();
      long bytes = reads.bytes();
      try (CheckedPages pages = open(check, false);
          ReadQueue queue = new DirectEngine(1).queue(1, true)) {
        pages.read(2, 2, window);
        pages.read(2, 2, window);
        queue.add(pages.source(), 5, 3, window, 0);
        queue.await(1, (tag, failure) -> assertThat(failure).isNull());
        pages.verify(5, 3, window);
        assertThatThrownBy(() -> pages.read(PAGES, 1, window)).isInstanceOf(IOException.class);
      }
      assertThat(reads.reads() - before).as("the failed one is none").isEqualTo(3);
      assertThat(reads.bytes() - bytes).isEqualTo(7 * PageSource.PAGE);
    }
  }
}
