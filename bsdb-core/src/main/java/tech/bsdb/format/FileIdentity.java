package tech.bsdb.format;

/**
 * Identifies a file within its database; mixed into every page checksum.
 *
 * @param kind the kind of file
 * @param number the file's number within its kind, from 0
 */
public record FileIdentity(FileKind kind, int number) {
  /** {@code data 3}, as messages show it. */
  @Override
  public String toString() {
    return kind.label() + " " + number;
  }
}
