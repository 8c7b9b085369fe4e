package tech.bsdb.write;

import java.util.concurrent.CancellationException;
import tech.bsdb.BuildListener.Stage;

/** Follows the writer of a database while it completes its files. */
public interface AssemblyProgress {
  /**
   * Reports the progress of a stage, other than the last one. Called by the thread that completes
   * the files; an exception ends the build.
   *
   * @param stage the current stage; some may be left out
   * @param done records processed in this stage so far; starts again at 0 if the stage is repeated
   */
  void progress(Stage stage, long done);

  /**
   * Reports that a stage was completed; a repeated stage may be completed again. Called by the
   * thread that completes the files.
   */
  void ended(Stage stage);

  /**
   * Reports that files got their final names; an exception ends the build.
   *
   * @param done the number of these files
   * @param total the number of all files
   */
  default void sealed(long done, long total) {
    checkNotCancelled();
  }

  /**
   * Whether the build was cancelled. Polled by all that takes long, which then throws a {@link
   * CancellationException}. Thread-safe.
   */
  boolean cancelled();

  /** Throws if the build was cancelled. */
  default void checkNotCancelled() {
    if (cancelled()) {
      throw new CancellationException("the build was cancelled");
    }
  }

  /**
   * Follows the writer of a part of a database, for one who follows the whole: shows nothing, and
   * ends the part if the build was cancelled.
   */
  class OfPart implements AssemblyProgress {
    private final AssemblyProgress whole;

    OfPart(AssemblyProgress whole) {
      this.whole = whole;
    }

    @Override
    public void progress(Stage stage, long done) {
      checkNotCancelled();
    }

    @Override
    public void ended(Stage stage) {
      // the parts are one stage
    }

    @Override
    public boolean cancelled() {
      return whole.cancelled();
    }
  }
}
