package tech.bsdb.tools.publish;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import java.util.function.Consumer;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.DistantDirectory;

/**
 * Tries operations on a distant directory until they succeed, as often as there are pauses, unless
 * another attempt would fail alike. Thread-safe.
 */
public final class Attempts {
  private final DistantDirectory directory;
  private final List<Long> pauseMillis;
  private final Consumer<String> retrying;
  private volatile boolean stopped;

  /**
   * Creates attempts.
   *
   * @param pauseMillis the pauses before further attempts
   * @param retrying receives why something is tried again, from any thread
   */
  public Attempts(DistantDirectory directory, List<Long> pauseMillis, Consumer<String> retrying) {
    this.directory = directory;
    this.pauseMillis = List.copyOf(pauseMillis);
    this.retrying = retrying;
  }

  /** An operation. */
  @FunctionalInterface
  public interface Action {
    /** Runs it. */
    void run() throws IOException;
  }

  /** An operation with a result. */
  @FunctionalInterface
  public interface Question<T> {
    /** Runs it. */
    T ask() throws IOException;
  }

  /** A failure of what is sent, which no further attempt helps; the cause says more. */
  public static final class SourceException extends IOException {
    private static final long serialVersionUID = 1L;

    SourceException(Exception cause) {
      super(cause);
    }
  }

  /**
   * Runs an operation on a file.
   *
   * @throws NoSuchFileException if it is missing
   * @throws SourceException if the operation throws one
   * @throws InputException if the last attempt failed; the message names the file and is meant for
   *     users
   */
  public void run(String file, Action action) throws IOException {
    boolean unused =
        ask(
            file,
            () -> {
              action.run();
              return true;
            });
  }

  /** Runs an operation with a result on a file; throws what {@link #run} does. */
  public <T> T ask(String file, Question<T> question) throws IOException {
    for (int attempt = 0; ; attempt++) {
      try {
        return question.ask();
      } catch (SourceException | NoSuchFileException | NotDirectoryException e) {
        throw e;
      } catch (IOException e) {
        InputException explained = directory.explain(file, e);
        if (stopped || isLasting(e) || attempt == pauseMillis.size()) {
          throw explained;
        }
        retrying.accept(String.valueOf(explained.getMessage()));
        pause(pauseMillis.get(attempt));
      }
    }
  }

  /** Whether another attempt would fail alike. */
  private static boolean isLasting(IOException e) {
    return e instanceof AccessDeniedException
        || e instanceof FileAlreadyExistsException
        || e instanceof InputException
        || (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException))
        || e.getClass().getSimpleName().contains("QuotaExceeded");
  }

  private void pause(long milliseconds) throws IOException {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the transfer was stopped");
    }
    checkRunning();
  }

  /** Ends all attempts, as soon as possible. */
  public void stop() {
    stopped = true;
  }

  /** Whether {@link #stop} was called. */
  public boolean isStopped() {
    return stopped;
  }

  /** Fails if {@link #stop} was called. */
  public void checkRunning() throws InterruptedIOException {
    if (stopped) {
      throw new InterruptedIOException("the transfer was stopped");
    }
  }
}
