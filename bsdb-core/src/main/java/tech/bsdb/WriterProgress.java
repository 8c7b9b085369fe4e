package tech.bsdb;

import java.util.concurrent.CancellationException;
import tech.bsdb.write.AssemblyProgress;

/** Follows a writer while it completes a database. */
interface WriterProgress extends AssemblyProgress {
  /**
   * Reports that files got their final names; an exception ends the build.
   *
   * @param done the number of these files
   * @param total the number of all files
   */
  void sealed(long done, long total);

  /** Throws if the build was cancelled. */
  default void checkNotCancelled() {
    if (cancelled()) {
      throw new CancellationException("the build was cancelled");
    }
  }
}
