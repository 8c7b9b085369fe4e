package tech.bsdb;

import org.jspecify.annotations.Nullable;

/** What a verification looked at; damage is an exception, so that a report is always a good one. */
public final class VerifyReport {
  record Facts(long records, long pages, long bytes, boolean keysChecked) {}

  private final Facts facts;

  VerifyReport(Facts facts) {
    this.facts = facts;
  }

  /** Records that were read and found again through the index. */
  public long records() {
    return facts.records;
  }

  /** Pages whose checksums were verified. */
  public long pages() {
    return facts.pages;
  }

  /** Bytes of all files. */
  public long bytes() {
    return facts.bytes;
  }

  /** Whether every key was looked up; false for an approximate database, which keeps no keys. */
  public boolean keysChecked() {
    return facts.keysChecked;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof VerifyReport that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "VerifyReport" + facts.toString().substring("Facts".length());
  }
}
