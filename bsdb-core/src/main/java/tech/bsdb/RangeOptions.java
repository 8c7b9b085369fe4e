package tech.bsdb;

/**
 * Options for reading a range of keys. Immutable; the {@code with} methods return modified copies.
 *
 * @param values whether values are read
 * @param descending whether the greatest key comes first
 * @param limit the most records to read, at least 0
 */
public record RangeOptions(boolean values, boolean descending, long limit) {
  /** Fails with {@link IllegalArgumentException} if the limit is negative. */
  public RangeOptions {
    if (limit < 0) {
      throw new IllegalArgumentException("limit is " + limit + ", not at least 0");
    }
  }

  /** The defaults: keys and values of all records, in ascending order. */
  public static RangeOptions defaults() {
    return new RangeOptions(true, false, Long.MAX_VALUE);
  }

  /**
   * These options with other {@link #values}. Without values, no records are read, and {@link
   * Database.RecordCursor#value} fails.
   */
  public RangeOptions withValues(boolean values) {
    return new RangeOptions(values, descending, limit);
  }

  /** These options with another {@link #descending}. */
  public RangeOptions withDescending(boolean descending) {
    return new RangeOptions(values, descending, limit);
  }

  /**
   * These options with another {@link #limit}, after which the range ends. With a limit, no
   * unneeded records are read.
   */
  public RangeOptions withLimit(long limit) {
    return new RangeOptions(values, descending, limit);
  }
}
