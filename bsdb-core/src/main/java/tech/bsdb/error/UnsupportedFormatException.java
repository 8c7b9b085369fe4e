package tech.bsdb.error;

import java.io.IOException;
import java.nio.file.Path;

/** A database is intact but of a format, or with a feature, that this version cannot read. */
public final class UnsupportedFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param file the file that says so
   * @param found what it asks for
   * @param readable what this version reads
   */
  public UnsupportedFormatException(Path file, String found, String readable) {
    super(file + ": " + found + "; this version reads " + readable + " (use a newer bsdb)");
  }
}
