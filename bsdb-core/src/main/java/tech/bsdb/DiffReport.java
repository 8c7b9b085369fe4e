package tech.bsdb;

import org.jspecify.annotations.Nullable;

/** How many records of two databases differ; see {@link Database#diff(Database, Database)}. */
public final class DiffReport {
  record Facts(long kept, long added, long removed, long changed) {}

  private final Facts facts;

  DiffReport(Facts facts) {
    this.facts = facts;
  }

  /** Records that both databases have with the same value. */
  public long kept() {
    return facts.kept;
  }

  /** Records whose key only the second database has. */
  public long added() {
    return facts.added;
  }

  /** Records whose key only the first database has. */
  public long removed() {
    return facts.removed;
  }

  /** Records whose key both databases have, with different values. */
  public long changed() {
    return facts.changed;
  }

  /** The number of records in the first database. */
  public long recordsBefore() {
    return facts.kept + facts.removed + facts.changed;
  }

  /** The number of records in the second database. */
  public long recordsAfter() {
    return facts.kept + facts.added + facts.changed;
  }

  /** Whether both databases have the same records. */
  public boolean isEqual() {
    return facts.added == 0 && facts.removed == 0 && facts.changed == 0;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof DiffReport that && facts.equals(that.facts);
  }

  @Override
  public int hashCode() {
    return facts.hashCode();
  }

  @Override
  public String toString() {
    return "DiffReport" + facts.toString().substring("Facts".length());
  }
}
