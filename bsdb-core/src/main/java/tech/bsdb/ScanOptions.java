package tech.bsdb;

/**
 * Options for scanning a database. Immutable; the {@code with} methods return modified copies.
 *
 * @param values whether values are read
 * @param part the number of the part of the records that is read, from 0 to {@code parts - 1}
 * @param parts the number of parts, 1 to 65,536
 */
public record ScanOptions(boolean values, int part, int parts) {
  private static final int MOST_PARTS = 1 << 16;

  /** Fails with {@link IllegalArgumentException} if there is no such part. */
  public ScanOptions {
    if (parts < 1 || parts > MOST_PARTS || part < 0 || part >= parts) {
      throw new IllegalArgumentException(
          "part " + part + " of " + parts + "; parts are 0 to " + (MOST_PARTS - 1) + " at most");
    }
  }

  /** The defaults: all records, with their values. */
  public static ScanOptions defaults() {
    return new ScanOptions(true, 0, 1);
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
   */
  public ScanOptions withPart(int part, int parts) {
    return new ScanOptions(values, part, parts);
  }
}
