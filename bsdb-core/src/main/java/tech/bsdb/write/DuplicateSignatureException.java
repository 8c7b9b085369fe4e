package tech.bsdb.write;

/**
 * Thrown when two records have the same signature. Only their addresses are known in the index
 * stage.
 */
public final class DuplicateSignatureException extends Exception {
  private static final long serialVersionUID = 1L;

  private final long first;
  private final long second;

  DuplicateSignatureException(long first, long second) {
    super("records at addresses " + first + " and " + second + " have the same signature");
    this.first = first;
    this.second = second;
  }

  /** The address of one record. */
  public long first() {
    return first;
  }

  /** The address of the other record. */
  public long second() {
    return second;
  }
}
