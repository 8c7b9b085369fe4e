package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Layout;
import tech.bsdb.OpenOptions;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** A thread that is interrupted while it reads disturbs no other, nor its own later reads. */
@Tag("jdk")
class InterruptTest {
  @TempDir Path directory;

  private final Truth truth = Truth.random(Seeds.random("InterruptTest"), 500, 100);

  @BeforeEach
  void build() throws IOException {
    truth.build(directory.resolve("db"), BuildOptions.defaults().withLayout(Layout.BLOCKED));
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void anInterruptedReaderDisturbsNobody(OpenOptions.Engine engine) throws Exception {
    ExecutorService others = Executors.newFixedThreadPool(4);
    try (Database database =
        Database.open(directory.resolve("db"), OpenOptions.defaults().withEngine(engine))) {
      Thread.currentThread().interrupt();
      try {
        database.get(truth.records().get(0).key());
      } catch (IOException e) {
        assertThat(e).as("what an interrupted read may end with").isNotNull();
      }
      Thread.interrupted();
      Callable<Void> check =
          () -> {
            truth.checkGets(database);
            return null;
          };
      for (int i = 0; i < 8; i++) {
        others.submit(check).get();
      }
      check.call();
    } finally {
      Thread.interrupted();
      others.shutdownNow();
    }
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void anInterruptedThreadStillGetsItsAnswers(OpenOptions.Engine engine) throws Exception {
    try (Database database =
        Database.open(directory.resolve("db"), OpenOptions.defaults().withEngine(engine))) {
      Thread.currentThread().interrupt();
      truth.checkGets(database);
      assertThat(Thread.interrupted()).as("the interrupt is kept for whom it was meant").isTrue();
    } finally {
      Thread.interrupted();
    }
  }
}
