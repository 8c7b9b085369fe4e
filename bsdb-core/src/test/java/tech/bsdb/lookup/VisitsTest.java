package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A visit is seen until it ends, whatever other visits there are. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VisitsTest {
  private static long ownId() {
    return Thread.currentThread().getId();
  }

  private static void end(Visits.Visit visit) {
    visit.thread = 0;
  }

  @Test
  void visitsWithinVisits() {
    Visits visits = new Visits();
    assertThat(visits.isAny()).isFalse();
    List<Visits.Visit> begun = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      begun.add(visits.begin());
      assertThat(visits.isIn(ownId())).isTrue();
    }
    assertThat(begun).doesNotHaveDuplicates();
    Collections.shuffle(begun, new Random(1));
    for (Visits.Visit visit : begun) {
      assertThat(visits.isAny()).isTrue();
      assertThat(visits.isIn(ownId())).isTrue();
      end(visit);
    }
    assertThat(visits.isAny()).isFalse();
    assertThat(visits.isIn(ownId())).isFalse();
    end(visits.begin());
    assertThat(visits.isAny()).isFalse();
  }

  /** More threads than places; each sees its own visit only. */
  @Test
  void visitsOfManyThreads() throws Exception {
    int threads = 64;
    Visits visits = new Visits();
    CountDownLatch allIn = new CountDownLatch(threads);
    List<Callable<Boolean>> visitors = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      boolean visitor = i % 2 == 0;
      visitors.add(
          () -> {
            boolean right = !visits.isIn(ownId());
            for (int round = 0; round < 200; round++) {
              Visits.Visit outer = visitor ? visits.begin() : null;
              Visits.Visit inner = visitor ? visits.begin() : null;
              if (round == 0) {
                allIn.countDown();
                allIn.await();
              }
              right &= visits.isIn(ownId()) == visitor;
              if (outer != null && inner != null) {
                right &= inner.thread == ownId() && outer.thread == ownId();
                end(inner);
                right &= visits.isIn(ownId());
                end(outer);
              }
            }
            return right && !visits.isIn(ownId());
          });
    }
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (Future<Boolean> visitor : pool.invokeAll(visitors)) {
        assertThat(visitor.get()).isTrue();
      }
    } finally {
      pool.shutdownNow();
    }
    assertThat(visits.isAny()).isFalse();
  }
}
