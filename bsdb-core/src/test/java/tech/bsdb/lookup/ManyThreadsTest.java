package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Layout;
import tech.bsdb.Offered;
import tech.bsdb.OpenOptions;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/**
 * Many more threads than sessions have places, platform threads and virtual ones: right answers,
 * and a close that waits for those under way and refuses the rest.
 */
@Tag("jdk")
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyThreadsTest {
  private static final int PLATFORM = 100;
  private static final int VIRTUAL = 1000;

  /** Threads rest after each lookup: all of them busy would leave no processor to the rest. */
  private static final long REST_NANOS = 10_000_000;

  @TempDir Path directory;

  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (boolean virtual :
        Runtime.version().feature() < 21 ? List.of(false) : List.of(false, true)) {
      for (OpenOptions.Engine engine : Offered.engines()) {
        if (engine != OpenOptions.Engine.AUTO) {
          cases.add(Arguments.of(virtual, engine, Layout.BLOCKED));
          cases.add(Arguments.of(virtual, engine, Layout.PACKED));
        }
      }
      for (Layout layout : List.of(Layout.COMPRESSED, Layout.PACKED_COMPRESSED)) {
        cases.add(Arguments.of(virtual, OpenOptions.Engine.MAPPED, layout));
        cases.add(Arguments.of(virtual, OpenOptions.Engine.BUFFERED, layout));
      }
    }
    return cases;
  }

  @Sampled(5)
  @ParameterizedTest
  @MethodSource("cases")
  void answersAreRightAndCloseWaits(boolean virtual, OpenOptions.Engine engine, Layout layout)
      throws Exception {
    Truth truth = Truth.random(Seeds.random("ManyThreadsTest"), 3000, 300);
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(layout).withDictionaryBytes(4096));
    int threads = virtual ? VIRTUAL : PLATFORM;
    Database database = Database.open(target, OpenOptions.defaults().withEngine(engine));
    ExecutorService pool = virtual ? virtualThreads() : Executors.newFixedThreadPool(threads);
    try {
      CountDownLatch firstAnswers = new CountDownLatch(threads);
      List<Future<Integer>> readers = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int first = 7 * thread;
        readers.add(pool.submit(() -> readUntilClosed(database, truth, first, firstAnswers)));
      }
      firstAnswers.await();
      database.close();
      for (Future<Integer> reader : readers) {
        assertThat(reader.get()).as("lookups of a thread").isPositive();
      }
      assertThatThrownBy(() -> database.get(new byte[1])).isInstanceOf(IllegalStateException.class);
    } finally {
      pool.shutdownNow();
    }
  }

  /** Lookups until the database says that it is closed; all right, or this fails. */
  private static int readUntilClosed(
      Database database, Truth truth, int first, CountDownLatch firstAnswers) throws Exception {
    List<Truth.Entry> records = truth.records();
    int lookups = 0;
    try {
      for (int i = first; ; i++) {
        Truth.Entry record = records.get(i % records.size());
        byte[] value = database.get(record.key());
        Truth.same(value, record.value(), "single");
        if (lookups == 0) {
          batch(database, records, i);
          firstAnswers.countDown();
        }
        lookups++;
        LockSupport.parkNanos(REST_NANOS);
      }
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage("the database is closed");
      return lookups;
    } catch (Throwable e) {
      while (firstAnswers.getCount() > 0) { // so that the test ends, and says why
        firstAnswers.countDown();
      }
      throw e;
    }
  }

  private static void batch(Database database, List<Truth.Entry> records, int first)
      throws Exception {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      keys.add(records.get((first + i) % records.size()).key());
    }
    keys.add(Truth.utf8("this key is absent, and longer than any"));
    List<byte @Nullable []> values = database.getAll(keys);
    for (int i = 0; i < 5; i++) {
      Truth.same(values.get(i), records.get((first + i) % records.size()).value(), "batch");
    }
    assertThat(values.get(5)).isNull();
  }

  /** A virtual thread for each task, from Java 21 on. */
  private static ExecutorService virtualThreads() throws ReflectiveOperationException {
    return (ExecutorService)
        Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
  }
}
