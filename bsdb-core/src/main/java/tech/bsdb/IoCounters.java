package tech.bsdb;

/**
 * The reads that a database asked the operating system for since it was opened: of pages of the
 * index and of data files, by the engines {@code BUFFERED}, {@code DIRECT} and {@code IO_URING}.
 *
 * <p>Not counted, because no read is asked for: mapped files, which the kernel brings into memory
 * by itself, the hash function among them, and what was read into memory at opening. Reads through
 * the page cache count whether or not they reach the device. A failed read does not count, and one
 * that the system did in several parts is one.
 *
 * @param reads reads that have ended; two for most look-ups of a present key where index and data
 *     are both read
 * @param bytes bytes that they brought, whole pages of 4,096
 */
public record IoCounters(long reads, long bytes) {}
