package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Logged;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;
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

  @Test
  void aFaultInAMappedFileIsLoggedOnce() throws Exception {
    Path target = directory.resolve("faulty");
    truth.build(target, BuildOptions.defaults());
    FailingEngine engine = new FailingEngine();
    try (Lookup lookup = Lookup.open(target, EngineChoice.always(engine), true)) {
      engine.failWith(new InternalError("a fault occurred in an unsafe memory access operation"));
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
