package tech.bsdb.error;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Bytes of a database are not what was written: the file, the byte offset, and what was expected
 * and found.
 */
public final class CorruptDatabaseException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient Path file;
  private final long offset;

  /**
   * Creates an exception for damage at one place.
   *
   * @param file the damaged file
   * @param offset the byte offset of the damage, or of the page or field that holds it
   * @param expected what should be there, in words
   * @param actual what is there, in words
   */
  public CorruptDatabaseException(Path file, long offset, String expected, String actual) {
    super(
        file
            + ": damaged at byte "
            + offset
            + ": expected "
            + expected
            + ", found "
            + actual
            + " (copy the database again or rebuild it)");
    this.file = file;
    this.offset = offset;
  }

  /** The damaged file. */
  public Path file() {
    return file;
  }

  /** The byte offset of the damage, or of the page or field that holds it. */
  public long offset() {
    return offset;
  }
}
