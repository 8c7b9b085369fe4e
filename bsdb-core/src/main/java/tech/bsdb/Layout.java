package tech.bsdb;

/** How records lie in the data files (FORMAT.md §4). */
public enum Layout {
  /** Records never straddle a 4 KiB page unless they are larger, so a lookup reads one page. */
  BLOCKED,
  /** Records lie back to back and may straddle pages. */
  COMPACT,
  /** Records are gathered in blocks, and each block is one ZSTD frame. */
  COMPRESSED
}
