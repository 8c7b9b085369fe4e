package tech.bsdb;

/** Options for scanning a database. Immutable; the {@code with} methods return modified copies. */
public final class ScanOptions {
  private static final ScanOptions DEFAULTS = new ScanOptions(true, 0, 1);

  /** The greatest number of parts. */
  private static final int MOST_PARTS = 1 << 16;

  private final boolean values;
  private final int part;
  private final int parts;

  private ScanOptions(boolean values, int part, int parts) {
    this.values = values;
    this.part = part;
    this.parts = parts;
  }

  /** The defaults: all records, with their values. */
  public static ScanOptions defaults() {
    return DEFAULTS;
  }

  /** Whether values are read. */
  public boolean values() {
    return values;
  }

  /** The number of the part of the records that is read, from 0. */
  public int part() {
    return part;
  }

  /** The number of parts. */
  public int parts() {
    return parts;
  }

  /**
   * These options with other {@link #values}. Without values, pages that hold only parts of a value
   * are not read, and {@link Database.RecordCursor#value} fails.
   */
  public ScanOptions withValues(boolean values) {
    return new ScanOptions(values, part, parts);
  }

  /**
   * These options with a part of the records. Scans of all parts of the same database together,
   * also in several processes, return every record exactly once. Parts have about the same size if
   * they are much larger than their largest record; with thousands of parts, some may be empty. In
   * a set of shards, each part has its share of every shard.
   *
   * @param part the number of the part, from 0 to {@code parts - 1}
   * @param parts the number of parts, 1 to 65,536
   * @throws IllegalArgumentException if there is no such part
   */
  public ScanOptions withPart(int part, int parts) {
    if (parts < 1 || parts > MOST_PARTS || part < 0 || part >= parts) {
      throw new IllegalArgumentException(
          "part " + part + " of " + parts + "; parts are 0 to " + (MOST_PARTS - 1) + " at most");
    }
    return new ScanOptions(values, part, parts);
  }
}
