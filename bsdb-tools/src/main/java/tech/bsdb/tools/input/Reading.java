package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A source's one reading: how it is stopped, and what becomes of the file that takes what is left
 * out. Thread-safe.
 */
public final class Reading implements AutoCloseable {
  /** Guarded by this. */
  private boolean stopped;

  /** Guarded by this. */
  private @Nullable Runnable running;

  /** Guarded by this. */
  private @Nullable Rejects rejects;

  /**
   * Begins.
   *
   * @param path where what is left out goes, or null
   * @param transcoded whether that stood in another encoding than UTF-8
   * @param stop makes the reading end with an exception
   * @return what the path was opened as, for the caller to close; null without a path
   */
  public @Nullable Rejects begin(@Nullable Path path, boolean transcoded, Runnable stop)
      throws IOException {
    // without the lock: a pipe that nobody reads would keep it from whoever wants to stop
    Rejects opened = path == null ? null : Rejects.open(path, transcoded);
    synchronized (this) {
      if (stopped) {
        if (opened != null) {
          opened.close();
          opened.discard();
        }
        throw new IllegalStateException("the input is closed");
      }
      running = stop;
      rejects = opened;
      return opened;
    }
  }

  /** Gives the file of what was left out its name, where there is one. */
  public synchronized void publishRejects() throws IOException {
    if (rejects != null) {
      rejects.publish();
    }
  }

  /** Ends the reading that goes on, and lets none begin. */
  public synchronized void stop() {
    stopped = true;
    if (running != null) {
      running.run();
    }
  }

  /** Whether nobody wants to read on. */
  synchronized boolean isStopped() {
    return stopped;
  }

  /** {@linkplain #stop Stops}, and removes the file that was not published. */
  @Override
  public synchronized void close() {
    stop();
    if (rejects != null) {
      rejects.discard();
    }
  }
}
