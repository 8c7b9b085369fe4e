package tech.bsdb;

/**
 * A memory budget that lookups reserve from before allocating, so that a caller can bound their
 * total memory.
 *
 * <p>A lookup may reserve several times: for the pages of a large record, for a block to
 * decompress, and for the value. It releases nothing: once it has ended, only its value remains,
 * and the caller settles the difference. Each lookup reserves from one thread at a time, not
 * necessarily the caller's.
 */
@FunctionalInterface
public interface MemoryBudget {
  /**
   * Reserves memory.
   *
   * @param bytes the amount
   * @return whether the lookup may allocate it; if not, the lookup fails with a {@link
   *     tech.bsdb.error.MemoryBudgetExceededException}
   */
  boolean reserve(long bytes);
}
