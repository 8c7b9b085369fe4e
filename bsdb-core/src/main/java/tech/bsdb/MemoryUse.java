package tech.bsdb;

import org.jspecify.annotations.Nullable;

/** Memory residency of a database's files. */
public final class MemoryUse {
  record Facts(long bytes, long residentBytes, long hugePageBytes) {}

  /** Nothing is in memory, or residency is unknown. */
  public static final MemoryUse NONE = new MemoryUse(new Facts(0, 0, 0));

  private final Facts facts;

  MemoryUse(Facts facts) {
    this.facts = facts;
  }

  /** Size of the mapped or loaded files, in bytes. */
  public long bytes() {
    return facts.bytes;
  }

  /**
   * Bytes of those files that are in memory; for an open database, only pages that this process has
   * touched or the kernel mapped along with them.
   */
  public long residentBytes() {
    return facts.residentBytes;
  }

  /** Resident bytes in huge pages of 2 MiB, where lookups are faster. */
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
