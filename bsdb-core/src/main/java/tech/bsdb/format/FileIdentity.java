package tech.bsdb.format;

/**
 * Which file of a database this is; every page checksum is mixed with it.
 *
 * @param kind what the file holds
 * @param number the number among the files of that kind, from 0
 */
public record FileIdentity(FileKind kind, int number) {
  /** {@code data 3}, as messages show it. */
  @Override
  public String toString() {
    return kind.label() + " " + number;
  }
}
