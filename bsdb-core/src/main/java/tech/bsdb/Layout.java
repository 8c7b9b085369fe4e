package tech.bsdb;

/** Record layouts of the data files (FORMAT.md §4, §12). */
public enum Layout {
  /**
   * Records never straddle a 4 KiB page unless larger than one, so a lookup reads a single page.
   */
  BLOCKED,
  /** Records are stored back to back and may straddle pages. */
  COMPACT,
  /** Records are grouped into blocks, each compressed as one ZSTD frame. */
  COMPRESSED,
  /**
   * Records are in the order of their keys' signatures, which needs neither a hash function nor
   * addresses: a lookup makes one read, and a scan returns the records in that order.
   */
  PACKED
}
