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

  private static final byte[] NO_BYTES = new byte[0];
  private static final ByteBuffer NOTHING = ByteBuffer.wrap(NO_BYTES).asReadOnlyBuffer();

  private enum Kind {
    SEPARATE,
    CONTIGUOUS,
    IN_PLACE
  }

  private final Kind kind;

  /** The array of contiguous values, or of a value that is not in place because it spans pages. */
  private byte[] array = NO_BYTES;

  /** Where the last value is in its array or in the bytes shown, and where it ends there. */
  private int offset;

  private int end;

  /** The read-only bytes that hold a value in place. */
  private ByteBuffer shown = NOTHING;

  /** The buffer or array shown last, and its read-only view. Kept, because both are reused. */
  private @Nullable Object viewed;

  private ByteBuffer view = NOTHING;

  private @Nullable LongPredicate budget;

  private Values(Kind kind) {
    this.kind = kind;
  }

  /** Each value in its own array, which the caller owns. */
  public static Values separate() {
    return new Values(Kind.SEPARATE);
  }

  /** All values in one array. */
  public static Values contiguous() {
    return new Values(Kind.CONTIGUOUS);
  }

  /**
   * One value, where it lies: {@link #slice} shows it until the memory from which it was read is
   * reused or released. Only a value that spans pages is copied, into a reused array.
   */
  public static Values inPlace() {
    return new Values(Kind.IN_PLACE);
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
  @SuppressWarnings("ReferenceEquality") // identity: is it the buffer viewed last?
  public byte[] take(ByteBuffer buffer, int at, int length) throws MemoryBudgetExceededException {
    if (kind == Kind.IN_PLACE) {
      if (buffer.isReadOnly()) {
        return show(buffer, at, length);
      }
      if (viewed != buffer) {
        viewed = buffer;
        view = buffer.asReadOnlyBuffer().clear();
      }
      return show(view, at, length);
    }
    byte[] all = make(length);
    RecordBytes.copy(buffer, at, all, offset, length);
    return all;
  }

  /** Takes a value from an array; see {@link #take(ByteBuffer, int, int)}. */
  byte[] take(byte[] bytes, int at, int length) throws MemoryBudgetExceededException {
    if (kind == Kind.IN_PLACE) {
      return show(view(bytes), at, length);
    }
    byte[] all = make(length);
    System.arraycopy(bytes, at, all, offset, length);
    return all;
  }

  private ByteBuffer view(byte[] bytes) {
    if (viewed != bytes) {
      viewed = bytes;
      view = ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    }
    return view;
  }

  private byte[] show(ByteBuffer bytes, int at, int length) {
    shown = bytes;
    offset = at;
    end = at + length;
    return NO_BYTES;
  }

  /**
   * Allocates space for a value, which the caller fills.
   *
   * @return the array that holds the value, starting at {@link #offset}
   * @throws MemoryBudgetExceededException if the budget has no room
   * @throws IllegalStateException if contiguous values exceed 2 GiB
   */
  public byte[] make(int length) throws MemoryBudgetExceededException {
    if (kind == Kind.CONTIGUOUS) {
      return append(length);
    }
    reserve(length);
    if (kind == Kind.SEPARATE) {
      return new byte[length];
    }
    byte[] room = Scratch.room(array, length);
    array = Scratch.kept(room, array);
    show(view(room), 0, length);
    return room;
  }

  private byte[] append(int length) throws MemoryBudgetExceededException {
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
    return kind == Kind.SEPARATE ? last.length : end - offset;
  }

  /**
   * Returns the last value in place, as a read-only, big-endian buffer of its own, from position 0
   * to its limit.
   */
  public ByteBuffer slice() {
    return shown.slice(offset, end - offset);
  }

  /** Releases what a value in place keeps beyond {@code most} bytes. */
  public void trim(int most) {
    if (array.length > most) {
      array = NO_BYTES;
    }
    if (view.capacity() > most) {
      viewed = null;
      view = NOTHING;
    }
    shown = NOTHING;
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
