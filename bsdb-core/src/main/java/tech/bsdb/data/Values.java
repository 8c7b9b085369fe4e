package tech.bsdb.data;

import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.MemoryBudgetExceededException;

/**
 * Holds the values of lookups: each in its own array, or all back to back in one reused array. Not
 * thread-safe.
 */
public final class Values {
  /**
   * Reads and blocks of up to this many bytes are allocated without a reservation; values never
   * are.
   */
  public static final int UNASKED = 64 << 10;

  /** Maximum total size of contiguous values, in bytes. */
  private static final int MAX = Integer.MAX_VALUE - 8;

  private final boolean together;
  private byte[] array = new byte[0];
  private int end;
  private int offset;
  private @Nullable LongPredicate budget;

  private Values(boolean together) {
    this.together = together;
  }

  /** Each value in its own array, which the caller owns. */
  public static Values separate() {
    return new Values(false);
  }

  /** All values in one array. */
  public static Values contiguous() {
    return new Values(true);
  }

  /** Sets the budget for later reservations; null for none. */
  public void use(@Nullable LongPredicate asked) {
    budget = asked;
  }

  /**
   * Reserves memory needed to produce a value, if there is a budget.
   *
   * @throws MemoryBudgetExceededException if the budget has no room
   */
  public void reserve(long bytes) throws MemoryBudgetExceededException {
    LongPredicate asked = budget;
    if (asked != null && !asked.test(bytes)) {
      throw new MemoryBudgetExceededException(bytes);
    }
  }

  /**
   * Allocates space for a value.
   *
   * @return the array that holds the value, starting at {@link #offset}
   * @throws MemoryBudgetExceededException if the budget has no room
   * @throws IllegalStateException if contiguous values exceed 2 GiB
   */
  public byte[] make(int length) throws MemoryBudgetExceededException {
    if (!together) {
      reserve(length);
      return new byte[length];
    }
    if (length > MAX - end) {
      throw new IllegalStateException(
          "the values of one batch exceed 2 GiB; request fewer keys at once");
    }
    int needed = end + length;
    if (needed > array.length) {
      int larger = (int) Math.min(MAX, Math.max(needed, 2L * array.length));
      reserve(larger - array.length);
      array = Arrays.copyOf(array, larger);
    }
    offset = end;
    end = needed;
    return array;
  }

  /** The offset of the last value in its array. */
  public int offset() {
    return offset;
  }

  /** The length of the last value, given its array. */
  public int length(byte[] last) {
    return together ? end - offset : last.length;
  }

  /** The array of all values; replaced when it grows. */
  public byte[] array() {
    return array;
  }

  /** Removes all values. */
  public void clear() {
    end = 0;
    offset = 0;
  }
}
