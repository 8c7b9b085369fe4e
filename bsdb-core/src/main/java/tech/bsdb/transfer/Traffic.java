package tech.bsdb.transfer;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Counts what arrives in all threads of a transfer, and holds it to the rate. Thread-safe. */
final class Traffic {
  private static final long NANOSECONDS = 1_000_000_000;

  /** The most milliseconds between two looks whether the transfer was cancelled. */
  private static final long STEP = 250;

  private final TransferOptions options;
  private final Runnable checkOpen;
  private long all;
  private long here;
  private long files;
  private long bytes;
  private long resumed;
  private long retries;
  private long free = System.nanoTime(); // when the rate allows the next bytes

  /**
   * Creates counters.
   *
   * @param checkOpen throws if the transfer has been cancelled
   */
  Traffic(TransferOptions options, Runnable checkOpen) {
    this.options = options;
    this.checkOpen = checkOpen;
  }

  void checkOpen() {
    checkOpen.run();
  }

  /** Bytes that are to be here in the end. */
  synchronized void expect(long more) {
    all += more;
  }

  /** Verified bytes that an earlier transfer left. */
  synchronized void resumed(long more) {
    resumed += more;
    here += more;
    options.listener().arrived(here, all);
  }

  /** Bytes that must arrive again. */
  synchronized void dropped(long fewer) {
    here -= fewer;
  }

  /** Verified bytes. */
  synchronized void arrived(long more) {
    here += more;
    options.listener().arrived(here, all);
  }

  /** A file is here, whole. */
  synchronized void file() {
    files++;
  }

  synchronized void retrying(String location, String why, Duration pause) {
    retries++;
    options.listener().retrying(location, why, pause);
  }

  /** Counts bytes as they arrive, and waits as long as the rate demands. */
  void received(long more) throws InterruptedIOException {
    long wait;
    synchronized (this) {
      bytes += more;
      options.listener().received(more);
      if (options.bytesPerSecond() == Long.MAX_VALUE) {
        return;
      }
      long now = System.nanoTime();
      free = Math.max(free, now) + (long) ((double) more * NANOSECONDS / options.bytesPerSecond());
      wait = free - now;
    }
    pause(wait / 1_000_000);
  }

  /** Waits some milliseconds, unless the transfer is cancelled. */
  void pause(long milliseconds) throws InterruptedIOException {
    for (long left = milliseconds; left > 0; left -= STEP) {
      checkOpen();
      try {
        TimeUnit.MILLISECONDS.sleep(Math.min(left, STEP));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw Tries.interrupted();
      }
    }
    checkOpen();
  }

  synchronized TransferReport report(long reusedFiles, long reusedBytes) {
    return new TransferReport(files, bytes, resumed, reusedFiles, reusedBytes, retries, 0);
  }
}
