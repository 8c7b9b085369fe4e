package tech.bsdb;

/** What a build does with a key that it is given more than once. */
public enum DuplicatePolicy {
  /** The build fails and names the key and both places. */
  ERROR,
  /** The first record in the order of the input is kept. */
  FIRST,
  /** The last record in the order of the input is kept. */
  LAST
}
