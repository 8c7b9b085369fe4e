package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads wait for threads, but not forever. */
@Tag("jdk")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PooledQueueTest {
  private static final int READS = 20;

  /** How many more threads may be started. */
  private final AtomicInteger permitted = new AtomicInteger();

  private final ReadThreads threads =
      new ReadThreads(
          4,
          work -> {
            if (permitted.getAndDecrement() <= 0) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(work);
          });

  private final BitSet ended = new BitSet();

  private static final class Nothing implements PageSource {
    @Override
    public void read(long first, int count, Window window) {}

    @Override
    public void close() {}
  }

  private static void add(ReadQueue queue, int reads) {
    for (int i = 0; i < reads; i++) {
      queue.add(new Nothing(), i, 1, new Window(), i);
    }
  }

  private void awaitAll(ReadQueue queue) throws IOException {
    while (queue.pending() > 0) {
      queue.await(
          queue.pending(),
          (tag, failure) -> {
            assertThat(failure).isNull();
            assertThat(ended.get(tag)).as("handed over before").isFalse();
            ended.set(tag);
          });
    }
    assertThat(ended.cardinality()).isEqualTo(READS);
  }

  @Test
  void oneThreadDoesTheWorkIfNoOtherCanBeStarted() throws Exception {
    permitted.set(1);
    try (ReadQueue queue = new PooledQueue(READS, threads)) {
      add(queue, READS);
      awaitAll(queue);
    }
  }

  @Test
  void withoutAnyThreadTheReadsStayPending() throws Exception {
    try (ReadQueue queue = new PooledQueue(READS, threads)) {
      add(queue, READS);
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> queue.await(1, (tag, failure) -> {}))
            .isInstanceOf(IOException.class)
            .hasMessage("cannot start a reader thread: unable to create native thread");
        assertThat(queue.pending()).isEqualTo(READS);
      }
      permitted.set(4);
      awaitAll(queue);
    }
  }

  @Test
  void aQueueWithoutAnyThreadCloses() throws Exception {
    ReadQueue queue = new PooledQueue(READS, threads);
    add(queue, READS);
    assertThatThrownBy(queue::awaitWork).isInstanceOf(IOException.class);
    queue.close();
    assertThat(threads.getQueue()).isEmpty();
  }

  @Test
  void threadsEndWithoutWork() throws Exception {
    permitted.set(Integer.MAX_VALUE);
    try (ReadQueue queue = new PooledQueue(READS, threads)) {
      add(queue, READS);
      awaitAll(queue);
      while (threads.getPoolSize() > 0) {
        TimeUnit.MILLISECONDS.sleep(1);
      }
    }
  }

  @Test
  void anIdleThreadTakesTheNextRead() throws Exception {
    permitted.set(Integer.MAX_VALUE);
    threads.setKeepAliveTime(1, TimeUnit.DAYS);
    try (ReadQueue queue = new PooledQueue(READS, threads)) {
      for (int i = 0; i < READS; i++) {
        queue.add(new Nothing(), i, 1, new Window(), i);
        queue.await(1, (tag, failure) -> ended.set(tag));
        while (threads.getActiveCount() > 0) {
          TimeUnit.MILLISECONDS.sleep(1);
        }
      }
    }
    assertThat(ended.cardinality()).isEqualTo(READS);
    assertThat(threads.getPoolSize()).isEqualTo(1);
    threads.shutdown();
  }
}
