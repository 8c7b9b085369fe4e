package tech.bsdb;

/**
 * Memory residency of a database's files.
 *
 * @param bytes the size of the mapped or loaded files, in bytes
 * @param residentBytes bytes of those files that are in memory; for an open database, only pages
 *     that this process has touched or the kernel mapped along with them
 * @param hugePageBytes resident bytes in huge pages of 2 MiB, where lookups are faster
 */
public record MemoryUse(long bytes, long residentBytes, long hugePageBytes) {
  /** Nothing is in memory, or residency is unknown. */
  public static final MemoryUse NONE = new MemoryUse(0, 0, 0);

  /** The sum of both. */
  public MemoryUse plus(MemoryUse other) {
    return new MemoryUse(
        bytes + other.bytes,
        residentBytes + other.residentBytes,
        hugePageBytes + other.hugePageBytes);
  }
}
