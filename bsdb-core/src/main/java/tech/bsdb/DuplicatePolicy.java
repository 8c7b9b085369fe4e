package tech.bsdb;

/** How a build handles duplicate keys. */
public enum DuplicatePolicy {
  /** The build fails, reporting the key and both records. */
  ERROR,
  /** Keeps the first record in input order. */
  FIRST,
  /** Keeps the last record in input order. */
  LAST
}
