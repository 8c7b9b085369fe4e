package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The single reading of a source: stopping it, and the file of what is left out. Thread-safe. */
public final class Reading implements AutoCloseable {
  /** Guarded by this. */
  private boolean stopped;

  /** Guarded by this. */
  private @Nullable Runnable running;

  /** Guarded by this. */
  private @Nullable Rejects rejects;

  /**
   * Begins reading.
   *
   * @param path the file for what is left out, or null
   * @param transcoded whether the input is in an encoding other than UTF-8
   * @param stop makes the reading end with an exception
   * @return the opened file, for the caller to close; null without a path
   */
  public @Nullable Rejects begin(@Nullable Path path, boolean transcoded, Runnable stop)
      throws IOException {
    // without the lock: opening a pipe without a reader would block whoever wants to stop
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

  /** Gives the file of what was left out its final name, if there is one. */
  public synchronized void publishRejects() throws IOException {
    if (rejects != null) {
      rejects.publish();
    }
  }

  /** Stops the current reading, and lets none begin. */
  public synchronized void stop() {
    stopped = true;
    if (running != null) {
      running.run();
    }
  }

  /** Whether reading was stopped. */
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
