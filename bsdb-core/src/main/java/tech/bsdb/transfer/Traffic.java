package tech.bsdb.transfer;

import java.io.InterruptedIOException;
import java.time.Duration;

/** Counts what arrives in all threads of a transfer, and holds it to the rate. Thread-safe. */
final class Traffic {
  private static final long NANOSECONDS = 1_000_000_000;

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

  /** Counts bytes as they come in, and waits as long as the rate demands. */
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
    while (wait > 0) {
      checkOpen();
      long part = Math.min(wait, NANOSECONDS / 4);
      Tries.sleep(Math.max(1, part / 1_000_000));
      wait -= part;
    }
  }

  synchronized TransferReport report(long reusedFiles, long reusedBytes) {
    return new TransferReport(files, bytes, resumed, reusedFiles, reusedBytes, retries);
  }
}
