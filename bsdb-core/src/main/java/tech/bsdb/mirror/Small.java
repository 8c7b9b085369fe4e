package tech.bsdb.mirror;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * Reads small files of an origin whole, with several attempts as long as something arrives within a
 * deadline. Thread-safe.
 */
public final class Small {
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final RangeOrigin origin;
  private final Duration deadline;
  private final TransferOptions transfer;
  private volatile boolean cancelled;

  /** Reads files of an origin. */
  public Small(RangeOrigin origin, RemoteOptions options) {
    this.origin = origin;
    this.deadline = options.deadline();
    this.transfer = TransferOptions.defaults().withAttempts(options.attempts(), PAUSE);
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
    PatientOrigin patient = new PatientOrigin(origin, file, deadline);
    try {
      return Shipment.content(patient, file, most, transfer, () -> check(patient, file));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Brings one file of a database, of any length, as {@link Shipment#bring} does. */
  void bring(String file, byte[] manifest, String name, Path target) throws IOException {
    PatientOrigin patient = new PatientOrigin(origin, file, deadline);
    try {
      Shipment.bring(patient, file, manifest, name, target, transfer, () -> check(patient, file));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void check(PatientOrigin patient, String file) {
    if (cancelled) {
      throw new CancellationException(file + " is no longer needed");
    }
    patient.check();
  }

  /** Reports that the origin is nothing that can be read. */
  public NotDirectoryException neither() {
    return new NotDirectoryException(
        origin.location("")
            + " is neither a bsdb database nor a store: it has no "
            + Manifest.FILE_NAME
            + " and no "
            + Shipment.POINTER);
  }

  /** Reports a version that a store names and does not have. */
  public NoSuchFileException gone(String version, IOException cause) {
    NoSuchFileException gone =
        new NoSuchFileException(
            origin.location(version),
            null,
            "the store names this version, but has no database there; push it again with: bsdb"
                + " push DB "
                + origin.location("")
                + ", or roll back to another with: bsdb rollback "
                + origin.location("")
                + " VERSION");
    gone.initCause(cause);
    return gone;
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
