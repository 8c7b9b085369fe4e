package tech.bsdb;

import org.jspecify.annotations.Nullable;

/** The result of a successful verification; damage is reported as an exception instead. */
public final class VerifyReport {
  record Facts(long records, long pages, long bytes, boolean keysChecked) {}

  private final Facts facts;

  VerifyReport(Facts facts) {
    this.facts = facts;
  }

  /** Records read from the data files and found through the index. */
  public long records() {
    return facts.records;
  }

  /** Pages with verified checksums. */
  public long pages() {
    return facts.pages;
  }

  /** Total size of all files in bytes. */
  public long bytes() {
    return facts.bytes;
  }

  /** Whether every key was looked up; false for an approximate database, which stores no keys. */
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
