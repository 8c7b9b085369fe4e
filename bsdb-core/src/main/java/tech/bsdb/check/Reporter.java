package tech.bsdb.check;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener;
import tech.bsdb.DiffListener.Difference;
import tech.bsdb.DiffOptions.Detail;

/**
 * Reports differences for as long as they are wanted. Reports come from one thread; any thread may
 * ask what is wanted.
 */
final class Reporter {
  private final Detail detail;
  private final DiffListener listener;
  private final long allRecords;
  private long doneRecords;
  private volatile boolean wanted;

  /** Creates a reporter of databases with so many records together. */
  Reporter(Detail detail, DiffListener listener, long allRecords) {
    this.detail = detail;
    this.listener = listener;
    this.allRecords = allRecords;
    this.wanted = detail != Detail.COUNTS;
  }

  /** Whether differing records are still to be reported. */
  boolean wantsKeys() {
    return wanted;
  }

  /** Whether their values are to be reported, too. */
  boolean wantsValues() {
    return wanted && detail == Detail.VALUES;
  }

  /** Reports a differing record, unless no more are wanted. */
  void report(Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after)
      throws IOException {
    if (wanted && !listener.differs(difference, key, before, after)) {
      wanted = false;
    }
  }

  /**
   * Reports that so many more records have been compared.
   *
   * @throws InterruptedIOException if this thread is interrupted; it stays interrupted
   */
  void progress(long records) throws InterruptedIOException {
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted while comparing");
    }
    doneRecords += records;
    listener.progress(doneRecords, allRecords);
  }
}
