package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;

/** Touched pages are remembered, each on its own, by any number of threads. */
@Tag("jdk")
class TouchedPagesTest {
  @Test
  void onlyAddedPagesAreContained() {
    SplittableRandom random = Seeds.random("TouchedPagesTest");
    int pages = (1 << 18) * 3 + 77;
    TouchedPages touched = new TouchedPages(pages);
    BitSet model = new BitSet();
    for (int page : new int[] {0, 63, 64, (1 << 18) - 1, 1 << 18, pages - 1}) {
      touched.add(page);
      model.set(page);
    }
    for (int i = 0; i < 50_000; i++) {
      int page = random.nextInt(pages);
      touched.add(page);
      model.set(page);
    }
    for (int page = 0; page < pages; page++) {
      if (touched.contains(page) != model.get(page)) {
        throw new AssertionError("page " + page);
      }
    }
  }

  @Test
  void aHugeFileCostsNothingUntilItIsTouched() {
    TouchedPages touched = new TouchedPages(1L << 36);
    long last = (1L << 36) - 1;
    assertThat(touched.contains(last)).isFalse();
    touched.add(last);
    assertThat(touched.contains(last)).isTrue();
    assertThat(touched.contains(last - 64)).isFalse();
    assertThat(touched.contains(last - (1 << 18))).isFalse();
  }

  @Test
  void noBitIsLostWhenThreadsAddAtOnce() throws Exception {
    int threads = 4;
    int pages = 1 << 17;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < 20; round++) {
        TouchedPages touched = new TouchedPages(pages);
        CountDownLatch start = new CountDownLatch(threads);
        Future<?>[] done = new Future<?>[threads];
        for (int thread = 0; thread < threads; thread++) {
          int own = thread;
          done[thread] =
              pool.submit(
                  () -> {
                    start.countDown();
                    start.await();
                    for (int page = own; page < pages; page += threads) {
                      touched.add(page);
                    }
                    return null;
                  });
        }
        for (Future<?> each : done) {
          each.get();
        }
        for (int page = 0; page < pages; page++) {
          if (!touched.contains(page)) {
            throw new AssertionError("page " + page + " was lost");
          }
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }
}
