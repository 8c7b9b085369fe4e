package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files elsewhere are brought to a page file. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageFillTest {
  private static final int PAGE = PageSource.PAGE;
  private static final Path FILE = Path.of("data");

  @TempDir Path folder;
  private final List<String> progress = new ArrayList<>();

  private PageFile disk(long bytes) throws IOException {
    return PageFile.open(folder.resolve("pages"), bytes, warning -> {});
  }

  /** A file of pages whose bytes are all the same; those of damaged pages are 0. */
  private static PageFill.Part part(long pages) {
    CheckedPages.Check check =
        (window, offset, number) -> {
          if (window.buffer().get(offset) != 1 + number % 100) {
            throw new IOException("damaged");
          }
          return 0;
        };
    return new PageFill.Part(FILE, pages * PAGE, check, 7);
  }

  private static byte[] bytes(long first, int count) {
    byte[] bytes = new byte[count * PAGE];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (1 + (first + i / PAGE) % 100);
    }
    return bytes;
  }

  private static CompletableFuture<byte[]> range(long from, int length) {
    return CompletableFuture.completedFuture(bytes(from / PAGE, length / PAGE));
  }

  private static long held(PageFile disk, long pages) {
    long held = 0;
    byte[] page = new byte[PAGE];
    for (long number = 0; number < pages; number++) {
      if (disk.read(7, number, page, 0)) {
        assertThat(page[PAGE - 1]).isEqualTo((byte) (1 + number % 100));
        held++;
      }
    }
    return held;
  }

  @Test
  void allPagesComeOnceFrontToBack() throws Exception {
    List<String> asked = new ArrayList<>();
    Ranges ranges =
        (file, size, from, length) -> {
          asked.add(from / PAGE + "+" + length / PAGE);
          return range(from, length);
        };
    try (PageFile disk = disk(16 << 20)) {
      for (int i = 0; i < 2; i++) {
        PageFill fill =
            new PageFill(
                disk, ranges, List.of(part(600)), (at, all) -> progress.add(at + "/" + all));
        assertThat(fill.result().get(60, TimeUnit.SECONDS)).isEqualTo(600 * PAGE);
        fill.close();
        assertThat(held(disk, 600)).isEqualTo(600);
      }
    }
    assertThat(asked).containsExactly("0+256", "256+256", "512+88");
    assertThat(progress.subList(0, 4))
        .containsExactly("0/2457600", "1048576/2457600", "2097152/2457600", "2457600/2457600");
  }

  @Test
  void noMoreComesThanThereIsRoomFor() throws Exception {
    AtomicInteger pages = new AtomicInteger();
    Ranges ranges =
        (file, size, from, length) -> {
          pages.addAndGet(length / PAGE);
          return range(from, length);
        };
    try (PageFile disk = disk(1 << 20)) {
      PageFill fill = new PageFill(disk, ranges, List.of(part(5000)), (at, all) -> {});
      assertThat(fill.result().get(60, TimeUnit.SECONDS)).isEqualTo(disk.pages() * PAGE);
      assertThat(pages.get()).isEqualTo((int) disk.pages());
      assertThat(held(disk, 5000)).isGreaterThan(disk.pages() / 2);
    }
  }

  /** A lookup that reads while the file is full finds its page there afterwards. */
  @Test
  void pagesThatLookupsReadMeanwhileStay() throws Exception {
    try (PageFile disk = disk(1 << 20)) {
      byte[] page = new byte[PAGE];
      Ranges ranges = (file, size, from, length) -> range(from, length);
      List<Long> before = new ArrayList<>();
      int minute;
      do { // that of the reads must be that in which the filling begins
        minute = PageFile.now();
        before.clear();
        for (long number = 0; number < 4 * disk.pages(); number++) {
          disk.put(9, number, bytes(number, 1), 0, Integer.MAX_VALUE);
        }
        for (long number = 0; number < 4 * disk.pages(); number++) {
          if (disk.read(9, number, page, 0)) {
            before.add(number);
          }
        }
        new PageFill(disk, ranges, List.of(part(500)), (at, all) -> {})
            .result()
            .get(60, TimeUnit.SECONDS);
      } while (PageFile.now() != minute);
      assertThat(before).isNotEmpty().allMatch(number -> disk.read(9, number, page, 0));
    }
  }

  @Test
  void damagedPagesAreNotKept() throws Exception {
    Ranges ranges =
        (file, size, from, length) -> {
          byte[] bytes = bytes(from / PAGE, length / PAGE);
          java.util.Arrays.fill(bytes, 3 * PAGE, 4 * PAGE, (byte) 0);
          return CompletableFuture.completedFuture(bytes);
        };
    try (PageFile disk = disk(16 << 20)) {
      new PageFill(disk, ranges, List.of(part(10)), (at, all) -> {})
          .result()
          .get(60, TimeUnit.SECONDS);
      assertThat(held(disk, 10)).isEqualTo(9);
      assertThat(disk.holds(7, 3)).isFalse();
    }
  }

  @Test
  void aFailureEndsIt() throws Exception {
    Ranges ranges =
        (file, size, from, length) -> CompletableFuture.failedFuture(new IOException("gone"));
    try (PageFile disk = disk(16 << 20)) {
      PageFill fill = new PageFill(disk, ranges, List.of(part(10)), (at, all) -> {});
      assertThatThrownBy(() -> fill.result().join())
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(IOException.class)
          .hasRootCauseMessage("gone");
    }
  }

  @Test
  void closingGivesUpTwoRequestsInFlight() throws Exception {
    ConcurrentLinkedQueue<CompletableFuture<byte[]>> asked = new ConcurrentLinkedQueue<>();
    CountDownLatch two = new CountDownLatch(2);
    Ranges ranges =
        (file, size, from, length) -> {
          CompletableFuture<byte[]> never = new CompletableFuture<>();
          asked.add(never);
          two.countDown();
          return never;
        };
    try (PageFile disk = disk(16 << 20)) {
      PageFill fill = new PageFill(disk, ranges, List.of(part(5000)), (at, all) -> {});
      two.await();
      fill.close();
      assertThat(asked).hasSize(2).allMatch(CompletableFuture::isCancelled);
      assertThat(fill.result()).isCancelled();
      fill.close();
    }
  }
}
