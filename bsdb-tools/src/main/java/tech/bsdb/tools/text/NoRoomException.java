package tech.bsdb.tools.text;

/** A {@link JsonBuffer} was refused the memory to grow; what it holds is not whole. */
public final class NoRoomException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** A refusal. */
  public NoRoomException(long bytes) {
    super("no room for an answer of " + bytes + " bytes", null, false, false);
  }
}
