package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Seeds;

class PageMemoryTest {
  private static final int PAGE = PageSource.PAGE;

  private static byte[] page(long key) {
    byte[] bytes = new byte[PAGE];
    bytes[0] = (byte) key;
    bytes[1] = (byte) (key >> 8);
    return bytes;
  }

  private static void put(PageMemory memory, long... keys) {
    for (long key : keys) {
      memory.put(key, page(key));
    }
  }

  private static List<Long> kept(PageMemory memory, long keys) {
    List<Long> found = new ArrayList<>();
    for (long key = 0; key < keys; key++) {
      byte[] bytes = memory.get(key);
      if (bytes != null) {
        assertThat(bytes).isEqualTo(page(key));
        found.add(key);
      }
    }
    return found;
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, PAGE - 1})
  void nothingIsKeptWithoutRoomForAPage(long bytes) {
    PageMemory memory = new PageMemory(bytes);
    put(memory, 1, 2);
    assertThat(kept(memory, 3)).isEmpty();
    assertThat(memory.pages()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 1000})
  void pagesAreKeptUpToTheLimit(int pages) {
    PageMemory memory = new PageMemory((long) pages * PAGE + PAGE - 1);
    for (int key = 0; key < 3 * pages; key++) {
      put(memory, key, key);
      assertThat(memory.pages()).isEqualTo(Math.min(key + 1, pages));
      assertThat(memory.get(key)).isEqualTo(page(key));
    }
    assertThat(kept(memory, 3L * pages)).hasSize(pages);
  }

  @Test
  void pagesThatWereReadGetASecondChance() {
    PageMemory memory = new PageMemory(4 * PAGE);
    put(memory, 0, 1, 2, 3);
    assertThat(memory.get(0)).isNotNull();
    assertThat(memory.get(2)).isNotNull();
    put(memory, 4, 5);
    assertThat(kept(memory, 6)).containsExactly(0L, 2L, 4L, 5L);
  }

  @Test
  void pagesReadOnceDoNotDisplaceTheOnesInUse() {
    PageMemory memory = new PageMemory(100 * PAGE);
    for (long key = 0; key < 10_000; key++) {
      put(memory, key);
      for (long used = 0; used < Math.min(key, 50); used++) {
        assertThat(memory.get(used)).isNotNull();
      }
    }
  }

  @Test
  void threadsFindWhatWasKeptOrNothing() throws Exception {
    SplittableRandom random = Seeds.random("PageMemoryTest");
    PageMemory memory = new PageMemory(64 * PAGE);
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> threads = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        SplittableRandom own = random.split();
        threads.add(
            pool.submit(
                () -> {
                  for (int i = 0; i < 50_000; i++) {
                    long key = own.nextInt(200);
                    byte[] bytes = memory.get(key);
                    if (bytes == null) {
                      put(memory, key);
                    } else if (bytes[0] != (byte) key) {
                      throw new AssertionError("another page");
                    }
                  }
                }));
      }
      for (Future<?> thread : threads) {
        thread.get();
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(memory.pages()).isEqualTo(64);
    assertThat(kept(memory, 200)).hasSize(64);
  }
}
