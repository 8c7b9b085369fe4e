package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tech.bsdb.Leaks;

/** Threads that read are made when they are needed, kept for a while, and end by themselves. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReadThreadsTest {
  private static final int MOST = 4;

  private final ReadThreads threads = new ReadThreads(MOST);

  @AfterEach
  void noneIsLeft() throws Exception {
    awaitNone();
  }

  private static void awaitNone() throws InterruptedException {
    while (!Leaks.threads().isEmpty()) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  /** Has as many tasks run at the same time as there may be threads. */
  private void work() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(MOST);
    Runnable[] tasks = new Runnable[MOST];
    for (int i = 0; i < MOST; i++) {
      tasks[i] =
          () -> {
            begun.countDown();
            try {
              begun.await();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          };
    }
    threads.execute(tasks, MOST);
    begun.await();
  }

  @Test
  void theyEndAfterASecondWithoutWorkAlthoughThereAreUsers() throws Exception {
    threads.join();
    long before = System.nanoTime();
    work();
    awaitNone();
    assertThat(System.nanoTime() - before).isGreaterThan(500_000_000);
    work();
    threads.leave();
  }

  @Test
  void theyEndWithTheirLastUser() throws Exception {
    for (int round = 0; round < 300; round++) {
      threads.join();
      work();
      threads.join();
      threads.leave();
      assertThat(Leaks.threads()).hasSizeGreaterThanOrEqualTo(MOST);
      threads.leave();
      if (round % 3 == 0) {
        awaitNone();
      } // else some of them may still be on their way out when the next tasks come
    }
  }
}
