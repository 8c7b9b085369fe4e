package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads files that lie elsewhere, range by range. */
public final class RemoteEngine implements Engine {
  private final Ranges ranges;

  /**
   * Creates the engine.
   *
   * @param ranges reads the files
   * @param checks verifies the pages of a file; returns null to trust all
   * @param memoryBytes the most bytes of verified pages to keep in memory
   */
  public RemoteEngine(
      Ranges ranges, Function<Path, CheckedPages.@Nullable Check> checks, long memoryBytes) {
    this.ranges = ranges;
  }

  @Override
  public String name() {
    return "remote";
  }

  @Override
  public boolean verifiesEveryRead() {
    return true;
  }

  @Override
  public PageSource open(Path file, long length) {
    return new PageSource() {
      @Override
      public void read(long first, int count, Window window) throws IOException {
        try {
          byte[] bytes = ranges.read(file, length, first * PAGE, count * PAGE).join();
          System.arraycopy(bytes, 0, window.prepare(count * PAGE), 0, count * PAGE);
        } catch (CompletionException e) {
          throw e.getCause() instanceof IOException failure ? failure : new IOException(e);
        }
      }

      @Override
      public void close() {}
    };
  }
}
