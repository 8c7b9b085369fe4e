package tech.bsdb.transfer;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import tech.bsdb.error.CorruptDatabaseException;

/** Attempts to read one thing from an origin, with growing pauses as long as nothing arrives. */
final class Tries {
  private static final long LONGEST_PAUSE = 30_000;

  private final Origin origin;
  private final String file;
  private final Traffic traffic;
  private final TransferOptions options;
  private int failures;

  Tries(Origin origin, String file, Traffic traffic, TransferOptions options) {
    this.origin = origin;
    this.file = file;
    this.traffic = traffic;
    this.options = options;
  }

  /** Something arrived: the count of failures starts again. */
  void progressed() {
    failures = 0;
  }

  /**
   * Waits before the next attempt.
   *
   * @throws IOException if there must be none
   */
  void failed(IOException why) throws IOException {
    if (why instanceof NoSuchFileException
        || why instanceof AccessDeniedException
        || why instanceof InterruptedIOException && Thread.currentThread().isInterrupted()) {
      throw why;
    }
    if (why instanceof RefusedException) {
      throw new IOException(origin.location(file) + ": " + reason(why), why);
    }
    traffic.checkOpen(); // what was stopped has not failed
    if (Thread.currentThread().isInterrupted()) {
      throw interrupted();
    }
    failures++;
    if (failures >= options.attempts()) {
      String gaveUp = failures == 1 ? "" : "gave up after " + failures + " attempts: ";
      throw new IOException(origin.location(file) + ": " + gaveUp + reason(why), why);
    }
    long pause = Math.min(LONGEST_PAUSE, options.pause().toMillis() << Math.min(20, failures - 1));
    if (why instanceof BusyException busy) {
      pause = Math.max(pause, Math.min(LONGEST_PAUSE, busy.waiting().toMillis()));
    }
    traffic.retrying(origin.location(file), reason(why), Duration.ofMillis(pause));
    traffic.pause(pause);
  }

  private String reason(IOException why) {
    return why instanceof Damage || why instanceof RefusedException || why instanceof EOFException
        ? String.valueOf(why.getMessage())
        : origin.reason(why);
  }

  static InterruptedIOException interrupted() {
    return new InterruptedIOException("the transfer was interrupted");
  }

  /** Bytes that arrived damaged: at the origin, or on their way. The message names no file. */
  static final class Damage extends IOException {
    private static final long serialVersionUID = 1L;

    Damage(CorruptDatabaseException damaged) {
      super(damaged.difference(), damaged);
    }
  }
}
