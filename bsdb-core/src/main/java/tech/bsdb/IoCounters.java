package tech.bsdb;

import org.jspecify.annotations.Nullable;

/**
 * The reads that a database asked the operating system for since it was opened: of pages of the
 * index and of data files, by the engines {@code BUFFERED}, {@code DIRECT} and {@code IO_URING}.
 *
 * <p>Not counted, because no read is asked for: mapped files, which the kernel brings into memory
 * by itself, the hash function among them, and what was read into memory at opening. Reads through
 * the page cache count whether or not they reach the device. A failed read does not count, and one
 * that the system did in several parts is one.
 */
public final class IoCounters {
  record Facts(long reads, long bytes) {}

  private final Facts facts;

  IoCounters(Facts facts) {
    this.facts = facts;
  }

  /**
   * Reads that have ended; two for most lookups of a present key where index and data are both
   * read.
   */
  public long reads() {
    return facts.reads;
  }

  /** Bytes that they brought, whole pages of 4,096. */
  public long bytes() {
    return facts.bytes;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof IoCounters that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "IoCounters" + facts.toString().substring("Facts".length());
  }
}
