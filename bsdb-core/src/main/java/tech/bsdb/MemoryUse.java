package tech.bsdb;

import org.jspecify.annotations.Nullable;

/** How much of a database's files is in memory. */
public final class MemoryUse {
  record Facts(long bytes, long residentBytes, long hugePageBytes) {}

  /** Nothing is in memory, or it is unknown. */
  public static final MemoryUse NONE = new MemoryUse(new Facts(0, 0, 0));

  private final Facts facts;

  MemoryUse(Facts facts) {
    this.facts = facts;
  }

  /** Bytes of the files that are mapped or loaded. */
  public long bytes() {
    return facts.bytes;
  }

  /**
   * Bytes of them that are in memory; for an open database, those that this process has touched, or
   * the kernel with them.
   */
  public long residentBytes() {
    return facts.residentBytes;
  }

  /** Bytes of those in huge pages of 2 MiB, where lookups are quicker. */
  public long hugePageBytes() {
    return facts.hugePageBytes;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof MemoryUse that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "MemoryUse" + facts.toString().substring("Facts".length());
  }
}
