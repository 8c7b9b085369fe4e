package tech.bsdb.error;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Thrown when bytes of a database differ from what was written. Reports the file, the byte offset,
 * and what was expected and found.
 */
public final class CorruptDatabaseException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient Path file;
  private final long offset;

  /**
   * Creates an exception for damage at one location.
   *
   * @param file the damaged file
   * @param offset the byte offset of the damage, or of the page or field that contains it
   * @param expected a description of what should be there
   * @param actual a description of what is there
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

  /** The byte offset of the damage, or of the page or field that contains it. */
  public long offset() {
    return offset;
  }
}
