package tech.bsdb.mirror;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.transfer.Origin;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/** Reads small files of an origin whole, with attempts within a deadline. Thread-safe. */
public final class Small {
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Origin origin;
  private final Duration deadline;
  private final TransferOptions transfer;
  private volatile boolean cancelled;

  /** Reads files of an origin. */
  public Small(Origin origin, RemoteOptions options) {
    this.origin = origin;
    this.deadline = options.deadline();
    this.transfer = TransferOptions.defaults().withAttempts(options.attempts(), PAUSE);
  }

  /** How files are transferred that may be long. */
  TransferOptions transfer() {
    return transfer;
  }

  /** Lets what is being read fail, soon. */
  void cancel() {
    cancelled = true;
  }

  /**
   * Reads a file.
   *
   * @param most its greatest length in bytes
   */
  public byte[] read(String file, int most) throws IOException {
    long begin = System.nanoTime();
    try {
      return Shipment.content(origin, file, most, transfer, () -> checkTime(file, begin));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void checkTime(String file, long begin) {
    if (cancelled) {
      throw new CancellationException(file + " is no longer needed");
    }
    if (System.nanoTime() - begin > deadline.toNanos()) {
      throw new UncheckedIOException(
          new IOException(
              origin.location(file) + ": not read within " + deadline.toMillis() + " ms"));
    }
  }

  /** Reads the id that a manifest states. */
  public String id(String file) throws IOException {
    return manifest(file).stated().id().toString();
  }

  /** Reads a manifest; a second time if it arrives damaged. */
  Manifested manifest(String file) throws IOException {
    try {
      return decoded(file, read(file, ManifestFile.MAX_BYTES));
    } catch (CorruptDatabaseException perhapsOnItsWay) {
      return decoded(file, read(file, ManifestFile.MAX_BYTES));
    }
  }

  private Manifested decoded(String file, byte[] bytes) throws IOException {
    try {
      return new Manifested(bytes, ManifestFile.decode(Path.of(file), bytes));
    } catch (CorruptDatabaseException e) {
      throw e.at(origin.location(file));
    } catch (UnsupportedFormatException e) {
      throw e.at(origin.location(file));
    }
  }

  /**
   * A manifest file.
   *
   * @param bytes its content
   * @param stated what it says
   */
  record Manifested(byte[] bytes, ManifestFile stated) {}
}
