package tech.bsdb.error;

import java.io.IOException;

/** Thrown when a memory budget refuses a lookup's reservation. */
public final class MemoryBudgetExceededException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param bytes the size of the refused reservation
   */
  public MemoryBudgetExceededException(long bytes) {
    super("the memory budget has no room for " + bytes + " bytes; try again later");
  }
}
