package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
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
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/**
 * Closing under lookups: each ends with the right answer or says that the database is closed;
 * nothing crashes.
 */
@Tag("jdk")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CloseRaceTest {
  private static final int THREADS = 8;

  @TempDir Path directory;

  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (OpenOptions.Engine engine : Offered.engines()) {
      for (Layout layout : EnumSet.complementOf(EnumSet.of(Layout.COMPACT))) {
        cases.add(Arguments.of(engine, layout));
      }
    }
    return cases;
  }

  @Sampled(5)
  @ParameterizedTest
  @MethodSource("cases")
  void lookUpsThatMeetACloseAreRightOrRefused(OpenOptions.Engine engine, Layout layout)
      throws Exception {
    Truth truth = Truth.random(Seeds.random("CloseRaceTest"), 3000, 60);
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(layout).withDictionaryBytes(4096));
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      for (int round = 0; round < Rounds.of(3); round++) {
        Database database = Database.open(target, OpenOptions.defaults().withEngine(engine));
        int least = round * 15 / Rounds.of(3); // answers that each thread has had when it is closed
        CountDownLatch answered = new CountDownLatch(least == 0 ? 0 : THREADS);
        List<Future<Integer>> readers = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
          int first = 100 * thread;
          readers.add(
              pool.submit(
                  () -> {
                    for (int i = 0; ; i++) {
                      if (i == least) {
                        answered.countDown();
                      }
                      Truth.Entry record =
                          truth.records().get((first + i) % truth.records().size());
                      byte[] value;
                      try {
                        value = database.get(record.key());
                      } catch (IllegalStateException e) {
                        return i;
                      }
                      assertThat(value).isEqualTo(record.value());
                    }
                  }));
        }
        assertThat(answered.await(60, TimeUnit.SECONDS)).as("lookups are answered").isTrue();
        database.close();
        for (Future<Integer> reader : readers) {
          assertThat(reader.get()).as("right answers").isGreaterThanOrEqualTo(least);
        }
        assertThatThrownBy(() -> database.get(new byte[1]))
            .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(database::scan).isInstanceOf(IllegalStateException.class);
        database.close();
      }
    } finally {
      pool.shutdownNow();
    }
  }
}
