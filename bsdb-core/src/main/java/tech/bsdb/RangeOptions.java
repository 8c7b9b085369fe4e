package tech.bsdb;

/**
 * Options for reading a range of keys. Immutable; the {@code with} methods return modified copies.
 */
public final class RangeOptions {
  private static final RangeOptions DEFAULTS = new RangeOptions(true, false);

  private final boolean values;
  private final boolean descending;

  private RangeOptions(boolean values, boolean descending) {
    this.values = values;
    this.descending = descending;
  }

  /** The defaults: keys and values, in ascending order. */
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

  /**
   * These options with other {@link #values}. Without values, no records are read, and {@link
   * Database.RecordCursor#value} fails.
   */
  public RangeOptions withValues(boolean values) {
    return new RangeOptions(values, descending);
  }

  /** These options with another {@link #descending}. */
  public RangeOptions withDescending(boolean descending) {
    return new RangeOptions(values, descending);
  }
}
