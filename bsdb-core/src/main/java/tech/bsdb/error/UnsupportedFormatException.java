package tech.bsdb.error;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown when a database is intact but has a format or feature that this version cannot read. */
public final class UnsupportedFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String difference;

  /**
   * Creates an exception.
   *
   * @param file the file that declares the format or feature
   * @param found the format or feature found
   * @param readable what this version can read
   */
  public UnsupportedFormatException(Path file, String found, String readable) {
    this(file.toString(), found + "; this version reads " + readable + " (use a newer bsdb)");
  }

  private UnsupportedFormatException(String location, String difference) {
    super(location + ": " + difference);
    this.difference = difference;
  }

  /** The same, for a remote file whose location the message names. */
  public UnsupportedFormatException at(String elsewhere) {
    UnsupportedFormatException moved = new UnsupportedFormatException(elsewhere, difference);
    moved.setStackTrace(getStackTrace());
    return moved;
  }
}
