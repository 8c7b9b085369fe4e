package tech.bsdb;

/**
 * Options for reading a range of keys. Immutable; the {@code with} methods return modified copies.
 */
public final class RangeOptions {
  private static final RangeOptions DEFAULTS = new RangeOptions(true, false, Long.MAX_VALUE);

  private final boolean values;
  private final boolean descending;
  private final long limit;

  private RangeOptions(boolean values, boolean descending, long limit) {
    this.values = values;
    this.descending = descending;
    this.limit = limit;
  }

  /** The defaults: keys and values of all records, in ascending order. */
  public static RangeOptions defaults() {
    return DEFAULTS;
  }

  /** Whether values are read. */
  public boolean values() {
    return values;
  }

  /** Whether the greatest key comes first. */
  public boolean descending() {
    return descending;
  }

  /** The most records to read. */
  public long limit() {
    return limit;
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
   * These options with another {@link #limit}, after which the range ends. If it is known how many
   * records are wanted, none is read in vain.
   *
   * @param limit at least 0
   * @throws IllegalArgumentException if it is negative
   */
  public RangeOptions withLimit(long limit) {
    if (limit < 0) {
      throw new IllegalArgumentException("limit is " + limit + ", not at least 0");
    }
    return new RangeOptions(values, descending, limit);
  }
}
