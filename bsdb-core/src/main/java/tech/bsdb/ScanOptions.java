package tech.bsdb;

/** Options for scanning a database. Immutable; the {@code with} methods return modified copies. */
public final class ScanOptions {
  private static final ScanOptions DEFAULTS = new ScanOptions(true);

  private final boolean values;

  private ScanOptions(boolean values) {
    this.values = values;
  }

  /** The defaults: all records, with their values. */
  public static ScanOptions defaults() {
    return DEFAULTS;
  }

  /** Whether values are read. */
  public boolean values() {
    return values;
  }

  /**
   * These options with other {@link #values}. Without values, pages that hold only parts of a value
   * are not read, and {@link Database.RecordCursor#value} fails.
   */
  public ScanOptions withValues(boolean values) {
    return new ScanOptions(values);
  }
}
