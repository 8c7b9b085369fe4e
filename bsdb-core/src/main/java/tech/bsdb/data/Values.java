package tech.bsdb.data;

import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.MemoryBudgetExceededException;

/**
 * Where the values of lookups are put: each in an array of its own, or one behind the other in one
 * array that is used again. Not thread-safe.
 */
public final class Values {
  /** Reads and blocks of up to so many bytes are made without asking; values never are. */
  public static final int UNASKED = 64 << 10;

  /** The most bytes that values take together. */
  private static final int MAX = Integer.MAX_VALUE - 8;

  private final boolean together;
  private byte[] array = new byte[0];
  private int end;
  private int offset;
  private @Nullable LongPredicate budget;

  private Values(boolean together) {
    this.together = together;
  }

  /** Each value in an array of its own, which is the caller's. */
  public static Values separate() {
    return new Values(false);
  }

  /** All values in one array. */
  public static Values contiguous() {
    return new Values(true);
  }

  /** Has a budget asked for memory from now on; null for none. */
  public void use(@Nullable LongPredicate asked) {
    budget = asked;
  }

  /**
   * Asks the budget, if there is one, for memory that is needed on the way to a value.
   *
   * @throws MemoryBudgetExceededException if it has no room
   */
  public void reserve(long bytes) throws MemoryBudgetExceededException {
    LongPredicate asked = budget;
    if (asked != null && !asked.test(bytes)) {
      throw new MemoryBudgetExceededException(bytes);
    }
  }

  /**
   * Room for a value.
   *
   * @return the array in which it stands, from {@link #offset} on
   * @throws MemoryBudgetExceededException if the budget has no room
   * @throws IllegalStateException if values together take more than 2 GiB
   */
  public byte[] make(int length) throws MemoryBudgetExceededException {
    if (!together) {
      reserve(length);
      return new byte[length];
    }
    if (length > MAX - end) {
      throw new IllegalStateException(
          "the values of one batch take more than 2 GiB; ask for fewer keys at once");
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

  /** Where the last value stands in its array. */
  public int offset() {
    return offset;
  }

  /** Bytes of the last value, given the array in which it stands. */
  public int length(byte[] last) {
    return together ? end - offset : last.length;
  }

  /** The array of all values; another one once it had to grow. */
  public byte[] array() {
    return array;
  }

  /** Forgets all values. */
  public void clear() {
    end = 0;
    offset = 0;
  }
}
