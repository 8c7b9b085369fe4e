package tech.bsdb.write;

/**
 * What a merge did with the records of the base and with the changes. Not thread-safe.
 *
 * @see tech.bsdb.ChangeCounts
 */
public final class MergeCounts {
  /** Records of the base that stay. */
  public long kept;

  /** Records of the base that changes replace. */
  public long replaced;

  /** Records that are not in the base. */
  public long added;

  /** Records of the base that are deleted. */
  public long deleted;

  /** Deletions of keys that are not in the base. */
  public long deletedAbsent;

  /** Adds other counts. */
  public void add(MergeCounts others) {
    kept += others.kept;
    replaced += others.replaced;
    added += others.added;
    deleted += others.deleted;
    deletedAbsent += others.deletedAbsent;
  }

  /** The number of records of the base. */
  public long ofBase() {
    return kept + replaced + deleted;
  }
}
