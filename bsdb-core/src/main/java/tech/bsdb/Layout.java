package tech.bsdb;

import java.util.Locale;

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
   * The default: records are in the order of their keys' signatures, which needs neither a hash
   * function nor addresses: a lookup makes one read, and a scan returns the records in that order.
   */
  PACKED,
  /** As {@link #PACKED}, with the records of one or a few keys compressed as one ZSTD frame. */
  PACKED_COMPRESSED;

  /** The name in manifests and {@linkplain Statistics#layout statistics}; never changes. */
  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Whether records are compressed. Block size, compression level, dictionary and sample have an
   * effect only then.
   */
  public boolean isCompressed() {
    return this == COMPRESSED || this == PACKED_COMPRESSED;
  }

  /** Whether records are in the order of their keys' signatures. */
  public boolean isPacked() {
    return this == PACKED || this == PACKED_COMPRESSED;
  }
}
