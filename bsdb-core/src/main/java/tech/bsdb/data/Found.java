package tech.bsdb.data;

/**
 * Where a search in a page has found a key's value, in one number, so that a search allocates
 * nothing: the offset in the page's buffer and the length, or one of the constants, which are
 * negative.
 */
public final class Found {
  /** There is no record with the key. */
  public static final long ABSENT = -1;

  /**
   * The search cannot tell: a header is wide, a record goes on in another page, or the page is
   * damaged.
   */
  public static final long UNCLEAR = -2;

  private static final int LENGTH_BITS = 16;

  private Found() {}

  /** A value at an offset of a buffer; its length is below 65,536. */
  static long at(int offset, int length) {
    return (long) offset << LENGTH_BITS | length;
  }

  /** Where the value starts in the buffer. */
  public static int offset(long found) {
    return (int) (found >>> LENGTH_BITS);
  }

  /** The length of the value. */
  public static int length(long found) {
    return (int) found & (1 << LENGTH_BITS) - 1;
  }
}
