package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads of files that lie elsewhere, each by a request, answered on other threads. */
class RemoteEngineTest extends QueueContract {
  private final ExecutorService threads = Executors.newFixedThreadPool(3);
  private final LocalRanges ranges = new LocalRanges(threads);

  @Override
  Engine engine() {
    return new RemoteEngine(ranges, path -> null, 0);
  }

  /** A file elsewhere does not vanish with a path here. */
  @BeforeEach
  void openElsewhere() throws IOException {
    ranges.open(file);
  }

  @AfterEach
  void close() throws IOException {
    threads.shutdown();
    ranges.close();
  }

  @Override
  @Test
  void aMissingFileIsNamed() throws Exception {
    Path missing = directory.resolve("missing");
    try (PageSource source = engine().open(missing, PAGE)) {
      assertThatThrownBy(() -> source.read(0, 1, new Window()))
          .isInstanceOf(FileNotFoundException.class)
          .hasMessageContaining("missing");
    }
  }
}
