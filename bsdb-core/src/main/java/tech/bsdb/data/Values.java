package tech.bsdb.data;

import java.util.Arrays;

/**
 * Where the values of look-ups are put: each in an array of its own, or one behind the other in one
 * array that is used again. Not thread-safe.
 */
public final class Values {
  /** The most bytes that values take together. */
  private static final int MAX = Integer.MAX_VALUE - 8;

  private final boolean together;
  private byte[] array = new byte[0];
  private int end;
  private int offset;

  private Values(boolean together) {
    this.together = together;
  }

  /** Each value in an array of its own, which is the caller's. */
  public static Values apart() {
    return new Values(false);
  }

  /** All values in one array. */
  public static Values together() {
    return new Values(true);
  }

  /**
   * Room for a value.
   *
   * @return the array in which it stands, from {@link #offset} on
   * @throws IllegalStateException if values together take more than 2 GiB
   */
  public byte[] make(int length) {
    if (!together) {
      return new byte[length];
    }
    if (length > MAX - end) {
      throw new IllegalStateException(
          "the values of one batch take more than 2 GiB; ask for fewer keys at once");
    }
    offset = end;
    end += length;
    if (end > array.length) {
      array = Arrays.copyOf(array, (int) Math.min(MAX, Math.max(end, 2L * array.length)));
    }
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
