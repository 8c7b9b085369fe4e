package tech.bsdb;

/**
 * Is asked for memory before a lookup takes it, so that a caller can bound what all its lookups
 * take together.
 *
 * <p>A lookup may ask several times: for the pages of a large record, for a block that it
 * decompresses, and for the value. It gives nothing back: once it has ended, only its value is
 * left, and the caller settles the difference. One lookup asks from one thread at a time, which
 * need not be the caller's.
 */
@FunctionalInterface
public interface MemoryBudget {
  /**
   * Asks for memory.
   *
   * @param bytes how much
   * @return whether the lookup may take it; if not, it ends with a {@link
   *     tech.bsdb.error.MemoryBudgetExceededException}
   */
  boolean reserve(long bytes);
}
