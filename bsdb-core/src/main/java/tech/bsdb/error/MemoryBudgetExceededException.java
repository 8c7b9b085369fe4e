package tech.bsdb.error;

import java.io.IOException;

/** A lookup was refused the memory that it asked for. */
public final class MemoryBudgetExceededException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * A refusal.
   *
   * @param bytes the memory asked for
   */
  public MemoryBudgetExceededException(long bytes) {
    super("the memory budget has no room for " + bytes + " bytes; try again later");
  }
}
