package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Uninterrupted;

/**
 * Forces files to the device while the build goes on, so that little is left to force at its end.
 * The device would otherwise idle until the system writes the files back. Used by the thread that
 * writes them.
 */
final class EarlyForce implements Closeable {
  /** Bytes to write between one force and the next. */
  private static final long INTERVAL = 64 << 20;

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread made = new Thread(task, "bsdb-force");
            made.setDaemon(true);
            return made;
          });
  private @Nullable Future<?> running;
  private long forced;

  /**
   * Starts to force a file if it has grown much since the last call that did so, unless that is
   * still running.
   *
   * @param position where the file ends now; less than before if it is another file
   * @throws IOException if the force before failed
   */
  void written(OutputFile file, long position) throws IOException {
    forced = Math.min(forced, position);
    if (position - forced < INTERVAL || running != null && !running.isDone()) {
      return;
    }
    start(List.of(file));
    forced = position;
  }

  /**
   * Starts to force files, once those before are forced.
   *
   * @throws IOException if the force before failed
   */
  void start(List<OutputFile> files) throws IOException {
    await();
    running =
        thread.submit(
            () -> {
              for (OutputFile file : files) {
                file.force();
              }
              return null;
            });
  }

  /** Waits for the last force, even if this thread is interrupted, and throws its failure. */
  private void await() throws IOException {
    Future<?> last = running;
    running = null;
    if (last != null) {
      Uninterrupted.get(last);
    }
  }

  /** Waits for the last force; the files may be closed afterwards. */
  @Override
  public void close() throws IOException {
    try {
      await();
    } finally {
      thread.shutdown();
    }
  }
}
