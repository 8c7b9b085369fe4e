package tech.bsdb.error;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Thrown when bytes of a database differ from what was written. Reports the file, the byte offset,
 * and what was expected and found.
 */
public final class CorruptDatabaseException extends IOException {
  private static final long serialVersionUID = 1L;

  private static final String HERE = "copy the database again or rebuild it";
  private static final String ELSEWHERE = "upload the database again or rebuild it";

  private final transient Path file;
  private final String location;
  private final long offset;
  private final String difference;

  /**
   * Creates an exception for damage at one location.
   *
   * @param file the damaged file
   * @param offset the byte offset of the damage, or of the page or field that contains it
   * @param expected a description of what should be there
   * @param actual a description of what is there
   */
  public CorruptDatabaseException(Path file, long offset, String expected, String actual) {
    this(
        file,
        file.toString(),
        offset,
        "damaged at byte " + offset + ": expected " + expected + ", found " + actual,
        HERE);
  }

  private CorruptDatabaseException(
      Path file, String location, long offset, String difference, String remedy) {
    super(location + ": " + difference + " (" + remedy + ")");
    this.file = file;
    this.location = location;
    this.offset = offset;
    this.difference = difference;
  }

  /** The same damage, in a remote file whose location the message names. */
  public CorruptDatabaseException at(String elsewhere) {
    if (elsewhere.equals(location)) {
      return this;
    }
    CorruptDatabaseException moved =
        new CorruptDatabaseException(file, elsewhere, offset, difference, ELSEWHERE);
    moved.setStackTrace(getStackTrace());
    return moved;
  }

  /**
   * The damaged file. For a database that was opened in place, the path that the file would have in
   * the cache; see {@link #location}.
   */
  public Path file() {
    return file;
  }

  /** The damaged file as people write it, a path or the location of an object elsewhere. */
  public String location() {
    return location;
  }

  /** The damage in words, without the file and what to do. */
  public String difference() {
    return difference;
  }

  /** The byte offset of the damage, or of the page or field that contains it. */
  public long offset() {
    return offset;
  }
}
