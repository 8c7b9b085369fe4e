package tech.bsdb.error;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown when a database is intact but has a format or feature that this version cannot read. */
public final class UnsupportedFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param file the file that declares the format or feature
   * @param found the format or feature found
   * @param readable what this version can read
   */
  public UnsupportedFormatException(Path file, String found, String readable) {
    super(file + ": " + found + "; this version reads " + readable + " (use a newer bsdb)");
  }
}
