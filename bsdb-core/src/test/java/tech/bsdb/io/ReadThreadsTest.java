package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that read are made when they are needed, kept for a while, and end by themselves. */
@Tag("jdk")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReadThreadsTest {
  private static final int MOST = 4;
  private static final long FOREVER = TimeUnit.DAYS.toNanos(1);

  /** Waits until no thread is left; the timeout is the test's. */
  private static void awaitNone(ReadThreads threads) throws InterruptedException {
    while (threads.count() > 0) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  /** Has as many tasks run at the same time as there may be threads. */
  private static void work(ReadThreads threads) throws InterruptedException {
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
  void theyEndWithoutWorkAlthoughThereAreUsers() throws Exception {
    ReadThreads threads = new ReadThreads(MOST, TimeUnit.MILLISECONDS.toNanos(5));
    threads.join();
    work(threads);
    awaitNone(threads);
    work(threads);
    threads.leave();
    awaitNone(threads);
  }

  @Test
  void theyAreKeptForTheNextWork() throws Exception {
    ReadThreads threads = new ReadThreads(MOST, FOREVER);
    threads.join();
    for (int round = 0; round < 100; round++) {
      work(threads);
      assertThat(threads.count()).isEqualTo(MOST);
    }
    threads.leave();
    awaitNone(threads);
  }

  @Test
  void theyEndWithTheirLastUser() throws Exception {
    ReadThreads threads = new ReadThreads(MOST, FOREVER);
    for (int round = 0; round < 300; round++) {
      threads.join();
      work(threads);
      threads.join();
      threads.leave();
      assertThat(threads.count()).isEqualTo(MOST);
      threads.leave();
      if (round % 3 == 0) {
        awaitNone(threads);
      } // else some of them may still be on their way out when the next tasks come
    }
    awaitNone(threads);
  }
}
