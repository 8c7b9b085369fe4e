package tech.bsdb;

/**
 * How much of a database's files is in memory.
 *
 * @param bytes bytes of the files that are mapped or loaded
 * @param residentBytes bytes of them that are in memory; for an open database, those that this
 *     process has touched, or the kernel with them
 * @param hugePageBytes bytes of those in huge pages of 2 MiB, where lookups are quicker
 */
public record MemoryUse(long bytes, long residentBytes, long hugePageBytes) {}
