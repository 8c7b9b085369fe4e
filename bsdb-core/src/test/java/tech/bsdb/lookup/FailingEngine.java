package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/** An engine whose reads end with an error, as those of a mapped file that was cut short. */
final class FailingEngine implements Engine {
  private final Engine engine = new BufferedEngine();
  private final AtomicReference<@Nullable Error> failure = new AtomicReference<>();

  /** Makes all reads from now on throw an error, or none if it is null. */
  void failWith(@Nullable Error error) {
    failure.set(error);
  }

  @Override
  public String name() {
    return "failing";
  }

  @Override
  public PageSource open(Path file, long length) throws IOException {
    PageSource source = engine.open(file, length);
    return new PageSource() {
      @Override
      public void read(long first, int count, Window window) throws IOException {
        Error error = failure.get();
        if (error != null) {
          throw error;
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
