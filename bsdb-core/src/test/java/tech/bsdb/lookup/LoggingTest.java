package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Logged;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;
import tech.bsdb.read.AsyncReader;

/** What an embedding application finds in its log: little, and nothing of lookups. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LoggingTest {
  @TempDir Path directory;

  private final Truth truth = Truth.random(Seeds.random("LoggingTest"), 100, 30);

  @Test
  void anEngineThatFallsBackSaysWhy() throws Exception {
    Path target = directory.resolve("falls-back");
    truth.build(target, BuildOptions.defaults());
    String before = System.getProperty(EngineChoice.URING);
    System.setProperty(EngineChoice.URING, "false");
    try (AsyncReader reader = new AsyncReader(target.toFile(), false, true, true)) {
      assertThat(reader.engine()).contains("is not available");
    } finally {
      if (before == null) {
        System.clearProperty(EngineChoice.URING);
      } else {
        System.setProperty(EngineChoice.URING, before);
      }
    }
    assertThat(Logged.lines(target.toString()))
        .singleElement()
        .asString()
        .matches("(INFO|WARN) .*: read by the engine (direct|buffered): .* is not available: .*");
  }

  @Test
  void lookUpsSayNothing() throws Exception {
    Path target = directory.resolve("quiet");
    truth.build(target, BuildOptions.defaults());
    try (Database database = Database.open(target)) {
      truth.checkGets(database);
      truth.checkBatches(database);
      truth.checkScan(database);
    }
    assertThat(Logged.lines(target.toString())).isEmpty();
  }

  /** An engine whose reads end as those of a mapped file that was cut short. */
  private static final class Faulty implements Engine {
    private final Engine engine = new BufferedEngine();
    private final AtomicBoolean faulty = new AtomicBoolean();

    @Override
    public String name() {
      return "faulty";
    }

    @Override
    public PageSource open(Path file, long length) throws IOException {
      PageSource source = engine.open(file, length);
      return new PageSource() {
        @Override
        public void read(long first, int count, Window window) throws IOException {
          if (faulty.get()) {
            throw new InternalError("a fault occurred in an unsafe memory access operation");
          }
          source.read(first, count, window);
        }

        @Override
        public void close() throws IOException {
          source.close();
        }
      };
    }
  }

  @Test
  void aFaultInAMappedFileIsLoggedOnce() throws Exception {
    Path target = directory.resolve("faulty");
    truth.build(target, BuildOptions.defaults());
    Faulty engine = new Faulty();
    try (Lookup lookup = Lookup.open(target, EngineChoice.always(engine), true)) {
      engine.faulty.set(true);
      for (Truth.Entry record : truth.records()) {
        assertThatThrownBy(() -> lookup.get(record.key()))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("a mapped file cannot be read");
      }
    }
    List<String> lines = Logged.lines(target.toString());
    assertThat(lines).singleElement().asString().startsWith("ERROR " + target);
  }
}
