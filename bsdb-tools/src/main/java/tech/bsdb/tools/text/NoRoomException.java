package tech.bsdb.tools.text;

/** A {@link JsonBuffer} was refused the memory to grow; its content is incomplete. */
public final class NoRoomException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates an exception for an answer of that size. */
  public NoRoomException(long bytes) {
    super("no room for an answer of " + bytes + " bytes", null, false, false);
  }
}
