package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** What is requested for the reads of a file that lies elsewhere, and what becomes of damage. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RemotePagesTest {
  private static final int PAGE = PageSource.PAGE;
  private static final int PAGES = 600;
  private static final Path FILE = Path.of("elsewhere");

  private final byte[] content = Truth.bytes(Seeds.random("RemotePagesTest"), PAGES * PAGE);
  private final Queue<String> requests = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> held = new ConcurrentLinkedQueue<>();
  private final Fetches fetches = new Fetches();
  private final Window window = new Window();

  /** Changes the bytes of an answer, which starts at a page, or fails. */
  private interface Change {
    void of(long first, byte[] bytes) throws IOException;
  }

  private volatile Change change = (first, bytes) -> {};
  private volatile boolean holds;

  private CompletableFuture<byte[]> request(Path file, long size, long from, int length) {
    assertThat(file).isEqualTo(FILE);
    assertThat(from).isBetween(0L, size - length);
    assertThat(length).isPositive();
    requests.add(from / PAGE + "+" + length / PAGE);
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    Runnable work =
        () -> {
          byte[] bytes = Arrays.copyOfRange(content, (int) from, (int) from + length);
          try {
            change.of(from / PAGE, bytes);
            answer.complete(bytes);
          } catch (IOException | RuntimeException e) {
            answer.completeExceptionally(e);
          }
        };
    if (holds) {
      held.add(work);
    } else {
      work.run();
    }
    return answer;
  }

  private int check(Window checked, int offset, long number) throws IOException {
    byte[] found = new byte[PAGE];
    checked.buffer().get(offset, found);
    int at = (int) number * PAGE;
    if (!Arrays.equals(found, 0, PAGE, content, at, at + PAGE)) {
      throw new IOException("page " + number + " is damaged");
    }
    return checked.crc32c(offset, PAGE);
  }

  private RemotePages open(int memoryPages) {
    return open(new PageMemory((long) memoryPages * PAGE), content.length);
  }

  private RemotePages open(PageMemory memory, long length) {
    return new RemotePages(
        this::request, new PageStock(memory, 3, null, 0), fetches, FILE, length, this::check);
  }

  private void read(PageSource source, int first, int count) throws IOException {
    source.read(first, count, window);
    EngineContract.same(window, content, first, count);
  }

  private List<String> requests() {
    List<String> taken = new ArrayList<>();
    for (String next = requests.poll(); next != null; next = requests.poll()) {
      taken.add(next);
    }
    return taken;
  }

  private void answerAll() {
    for (Runnable next = held.poll(); next != null; next = held.poll()) {
      next.run();
    }
  }

  private void flip(long page, byte[] bytes, long first) {
    if (page >= first && (page - first) * PAGE < bytes.length) {
      bytes[(int) (page - first) * PAGE + 77] ^= 4;
    }
  }

  @Test
  void onlyTheMissingRunIsRequested() throws Exception {
    RemotePages pages = open(100);
    read(pages, 10, 1);
    read(pages, 14, 1);
    assertThat(requests()).containsExactly("10+1", "14+1");
    read(pages, 10, 1);
    assertThat(requests()).isEmpty();
    read(pages, 10, 5);
    assertThat(requests()).containsExactly("11+3");
    read(pages, 8, 9);
    assertThat(requests()).as("one request, with what lies between").containsExactly("8+9");
    read(pages, 8, 9);
    assertThat(requests()).isEmpty();
    assertThat(fetches.size()).isZero();
  }

  @Test
  void withoutMemoryEachReadIsARequest() throws Exception {
    RemotePages pages = open(0);
    read(pages, 10, 2);
    read(pages, 10, 2);
    assertThat(requests()).containsExactly("10+2", "10+2");
  }

  @Test
  void longRunsAreNotKept() throws Exception {
    RemotePages pages = open(500);
    read(pages, 0, RemotePages.MOST_KEPT + 1);
    read(pages, 100, RemotePages.MOST_KEPT);
    requests();
    read(pages, 0, RemotePages.MOST_KEPT + 1);
    read(pages, 100, RemotePages.MOST_KEPT);
    assertThat(requests()).containsExactly("0+65");
  }

  @Test
  void aDamagedPageIsRequestedOnceMoreAlone() throws Exception {
    RemotePages pages = open(100);
    change = (first, bytes) -> flip(7, bytes, bytes.length == PAGE ? 1000 : first);
    read(pages, 5, 4);
    assertThat(requests()).containsExactly("5+4", "7+1");
    read(pages, 5, 4);
    assertThat(requests()).as("kept once it was right").isEmpty();
  }

  @Test
  void aPageThatIsDamagedAgainIsShownAsItIsAndNotKept() throws Exception {
    RemotePages pages = open(100);
    change = (first, bytes) -> flip(7, bytes, first);
    CheckedPages checked = new CheckedPages(pages, PAGES, this::check, true, null);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> checked.read(5, 4, window)).hasMessage("page 7 is damaged");
      assertThat(requests()).containsExactly(i == 0 ? "5+4" : "7+1", "7+1");
    }
    checked.read(5, 2, window);
    checked.read(8, 1, window);
    assertThat(requests()).as("the others are kept").isEmpty();
    change = (first, bytes) -> {};
    checked.read(5, 4, window);
    assertThat(requests()).containsExactly("7+1");
  }

  @Test
  void severalDamagedPagesTakeOneRequestMore() throws Exception {
    RemotePages pages = open(100);
    change =
        (first, bytes) -> {
          flip(7, bytes, bytes.length == 10 * PAGE ? first : 1000);
          flip(8, bytes, first);
          flip(10, bytes, bytes.length == 10 * PAGE ? first : 1000);
        };
    pages.read(5, 10, window);
    assertThat(requests()).containsExactly("5+10", "7+4");
    change = (first, bytes) -> {};
    read(pages, 5, 10);
    assertThat(requests()).containsExactly("8+1");
  }

  @Test
  void ifTheRequestOnceMoreFailsTheReadFails() throws Exception {
    RemotePages pages = open(100);
    change =
        (first, bytes) -> {
          if (bytes.length == PAGE) {
            throw new IOException("on purpose");
          }
          flip(7, bytes, first);
        };
    assertThatThrownBy(() -> pages.read(5, 4, window))
        .isExactlyInstanceOf(IOException.class)
        .hasMessage("on purpose");
    change = (first, bytes) -> {};
    read(pages, 5, 4);
    assertThat(requests()).containsExactly("5+4", "7+1", "5+4");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void faultsNameTheFile(boolean atOnce) {
    Ranges broken =
        (file, size, from, length) -> {
          if (atOnce) {
            throw new IllegalStateException("on purpose");
          }
          return CompletableFuture.failedFuture(new IllegalStateException("on purpose"));
        };
    RemotePages pages =
        new RemotePages(
            broken,
            new PageStock(new PageMemory(0), 3, null, 0),
            fetches,
            FILE,
            content.length,
            null);
    assertThatThrownBy(() -> pages.read(2, 1, window))
        .isExactlyInstanceOf(IOException.class)
        .hasMessageContaining("elsewhere: cannot be read at byte 8192")
        .hasMessageContaining("on purpose")
        .hasCauseInstanceOf(IllegalStateException.class);
    assertThat(fetches.size()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"0", "100"})
  void aPageThatManyWantAtOnceIsRequestedOnce(int memoryPages) throws Exception {
    RemotePages pages = open(memoryPages);
    ExecutorService pool = Executors.newFixedThreadPool(8);
    holds = true;
    AtomicInteger waiting = new AtomicInteger();
    try {
      List<Future<?>> readers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        readers.add(
            pool.submit(
                () -> {
                  Window own = new Window();
                  waiting.incrementAndGet();
                  pages.read(20, 2, own);
                  EngineContract.same(own, content, 20, 2);
                  return null;
                }));
      }
      while (waiting.get() < 8 || held.isEmpty() || memoryPages == 0 && !allWait(8)) {
        Thread.onSpinWait();
      }
      answerAll();
      for (Future<?> reader : readers) {
        reader.get();
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(requests()).containsExactly("20+2");
  }

  private static boolean allWait(int threads) {
    return Thread.getAllStackTraces().values().stream()
            .filter(
                stack ->
                    Arrays.stream(stack)
                        .anyMatch(
                            frame ->
                                frame.getClassName().equals(PageFetch.class.getName())
                                    && frame.getMethodName().equals("await")))
            .count()
        == threads;
  }

  @Test
  void anInterruptDoesNotEndTheWait() throws Exception {
    RemotePages pages = open(0);
    holds = true;
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                read(pages, 4, 1);
                interrupted.complete(Thread.interrupted());
              } catch (IOException | AssertionError e) {
                interrupted.completeExceptionally(e);
              }
            });
    reader.start();
    while (held.isEmpty()) {
      Thread.onSpinWait();
    }
    reader.interrupt();
    assertThat(interrupted).isNotDone();
    answerAll();
    assertThat(interrupted.get()).isTrue();
    reader.join();
  }

  @Test
  void aScanTakesWhatWasReadAhead() throws Exception {
    RemotePages pages = open(500);
    for (int first = 0; first < PAGES; first += 60) {
      pages.soon(first, PAGES - first);
      if (first == 0) {
        assertThat(requests()).containsExactly("0+256", "256+256");
      }
      read(pages, first, 60);
    }
    assertThat(requests()).as("the last piece, when it was near").containsExactly("512+88");
    assertThat(fetches.size()).as("pieces left").isZero();
    read(pages, 0, 1);
    assertThat(requests()).as("pages read once are not kept").containsExactly("0+1");
  }

  @Test
  void whatMemoryHasIsNotReadAhead() throws Exception {
    RemotePages pages = open(500);
    read(pages, 0, 50);
    read(pages, 50, 50);
    requests();
    pages.soon(0, 300);
    assertThat(requests()).containsExactly("100+200");
  }

  @Test
  void readsAndPiecesShareWhatIsUnderWay() throws Exception {
    RemotePages pages = open(0);
    holds = true;
    assertThat(pages.fetch(100, 10, true)).hasSize(1);
    pages.soon(90, 30);
    assertThat(requests()).containsExactly("100+10", "90+10", "110+10");
    assertThat(pages.fetch(80, 50, true)).hasSize(5);
    assertThat(requests()).containsExactly("80+10", "120+10");
    answerAll();
    holds = false;
    read(pages, 95, 20);
    assertThat(requests()).as("brought by two pieces and a request").containsExactly("100+10");
  }

  @Test
  void aPieceThatFailedIsRequestedAgain() throws Exception {
    RemotePages pages = open(0);
    change =
        (first, bytes) -> {
          throw new IOException("on purpose");
        };
    pages.soon(0, 200);
    change = (first, bytes) -> {};
    read(pages, 0, 64);
    assertThat(requests()).containsExactly("0+200", "0+64");
  }

  @Test
  void readersShareTheRoomForPieces() {
    holds = true;
    RemotePages pages = open(new PageMemory(0), 1L << 40);
    int all = 0;
    for (int reader = 0; reader < 40; reader++) {
      pages.soon(reader * 10_000L, 10_000);
      int pieces = requests().size();
      assertThat(pieces).isEqualTo(reader < 2 ? 8 : pieces).isLessThanOrEqualTo(8);
      all += pieces;
      assertThat(fetches.size()).isEqualTo(all).isLessThanOrEqualTo(Fetches.MOST);
    }
    assertThat(all).isEqualTo(Fetches.MOST);
    for (int i = 0; i < 100; i++) {
      pages.soon(0, 10_000); // the others stay away
    }
    pages.soon(600_000, 10_000);
    assertThat(requests()).as("in place of forgotten ones").hasSize(8);
    assertThat(fetches.size()).isEqualTo(16);
    pages.close();
    assertThat(fetches.size()).isZero();
  }
}
