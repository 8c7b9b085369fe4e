package tech.bsdb;

/**
 * Counts of the read requests a database has made to the operating system since it was opened:
 * reads of index and data pages by the engines {@code BUFFERED}, {@code DIRECT} and {@code
 * IO_URING}.
 *
 * <p>Mapped files, including the hash function, are not counted, because the kernel pages them in
 * without a read request; nor are files loaded into memory at open. Reads through the page cache
 * count whether or not they reach the device. Failed reads do not count. A read that the system
 * completed in several parts counts once.
 *
 * @param reads completed reads. Most lookups of a present key make two when both index and data are
 *     read
 * @param bytes bytes read, in whole pages of 4,096 bytes
 */
public record IoCounters(long reads, long bytes) {
  /** Returns the sum of these and others. */
  public IoCounters plus(IoCounters others) {
    return new IoCounters(reads + others.reads, bytes + others.bytes);
  }
}
