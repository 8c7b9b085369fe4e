package tech.bsdb.data;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.MemoryBudgetExceededException;

/**
 * Receives the values of lookups: copies each into its own array, or all back to back into one
 * reused array, or only notes where the last one lies. Not thread-safe.
 */
public final class Values {
  /**
   * Reads and blocks of up to this many bytes are allocated without a reservation; values never
   * are.
   */
  public static final int UNASKED = 64 << 10;

  /** Maximum total size of contiguous values, in bytes. */
  private static final int MAX = Integer.MAX_VALUE - 8;

  /** Instead of an array, for values in place. */
  private static final byte[] IN_PLACE = new byte[0];

  private final boolean separate;
  private final @Nullable ValuePlace place;
  private byte[] array = new byte[0];
  private int end;
  private int offset;
  private @Nullable LongPredicate budget;

  private Values(boolean separate, @Nullable ValuePlace place) {
    this.separate = separate;
    this.place = place;
  }

  /** Each value in its own array, which the caller owns. */
  public static Values separate() {
    return new Values(true, null);
  }

  /** All values in one array. */
  public static Values contiguous() {
    return new Values(false, null);
  }

  /**
   * One value, where it lies: {@link #slice} shows it until the memory from which it was read is
   * reused or released. Only a value that spans pages is copied, into a reused array.
   */
  public static Values inPlace() {
    return new Values(false, new ValuePlace());
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
   * Takes a value from a buffer.
   *
   * @param buffer a window's buffer
   * @param at where the value starts in the buffer
   * @return the array that holds the value, starting at {@link #offset}; an arbitrary one if the
   *     value stays in place
   * @throws MemoryBudgetExceededException if the budget has no room
   * @throws IllegalStateException if contiguous values exceed 2 GiB
   */
  public byte[] take(ByteBuffer buffer, int at, int length) throws MemoryBudgetExceededException {
    if (separate) {
      reserve(length);
      byte[] value = new byte[length];
      RecordBytes.copy(buffer, at, value, 0, length);
      return value;
    }
    ValuePlace shown = place;
    if (shown != null) {
      shown.show(buffer, at, length);
      return IN_PLACE;
    }
    byte[] all = make(length);
    RecordBytes.copy(buffer, at, all, offset, length);
    return all;
  }

  /** Takes a value from an array; see {@link #take(ByteBuffer, int, int)}. */
  byte[] take(byte[] array, int at, int length) throws MemoryBudgetExceededException {
    ValuePlace shown = place;
    if (shown != null) {
      shown.show(array, at, length);
      return IN_PLACE;
    }
    byte[] value = make(length);
    System.arraycopy(array, at, value, offset, length);
    return value;
  }

  /**
   * Allocates space for a value, which the caller fills.
   *
   * @return the array that holds the value, starting at {@link #offset}
   * @throws MemoryBudgetExceededException if the budget has no room
   * @throws IllegalStateException if contiguous values exceed 2 GiB
   */
  public byte[] make(int length) throws MemoryBudgetExceededException {
    if (separate) {
      reserve(length);
      return new byte[length];
    }
    ValuePlace shown = place;
    if (shown != null) {
      reserve(length);
      return shown.prepare(length);
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
    return separate ? last.length : end - offset;
  }

  /**
   * Returns the last value in place, as a read-only, big-endian buffer of its own, from position 0
   * to its limit.
   */
  public ByteBuffer slice() {
    ValuePlace shown = place;
    if (shown == null) {
      throw new IllegalStateException("the values are copied");
    }
    return shown.slice();
  }

  /** Releases what a value in place keeps beyond {@code most} bytes. */
  public void trim(int most) {
    ValuePlace shown = place;
    if (shown != null) {
      shown.trim(most);
    }
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
