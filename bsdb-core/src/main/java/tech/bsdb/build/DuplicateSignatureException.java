package tech.bsdb.build;

/** Two records have one signature; where they stand is all that the index stage knows of them. */
public final class DuplicateSignatureException extends Exception {
  private static final long serialVersionUID = 1L;

  private final long first;
  private final long second;

  DuplicateSignatureException(long first, long second) {
    super("records at addresses " + first + " and " + second + " have one signature");
    this.first = first;
    this.second = second;
  }

  /** The address of one. */
  public long first() {
    return first;
  }

  /** The address of the other. */
  public long second() {
    return second;
  }
}
