package tech.bsdb;

/**
 * How many records of two databases differ; see {@link Database#diff(Database, Database)}.
 *
 * @param kept records that both databases have with the same value
 * @param added records whose key only the second database has
 * @param removed records whose key only the first database has
 * @param changed records whose key both databases have, with different values
 */
public record DiffReport(long kept, long added, long removed, long changed) {
  /** The number of records in the first database. */
  public long recordsBefore() {
    return kept + removed + changed;
  }

  /** The number of records in the second database. */
  public long recordsAfter() {
    return kept + added + changed;
  }

  /** Whether both databases have the same records. */
  public boolean isEqual() {
    return added == 0 && removed == 0 && changed == 0;
  }
}
