package tech.bsdb.store;

/** What is read into the page cache before a version goes live, so that it is quick at once. */
public enum Preload {
  /** Nothing. */
  NONE,
  /** The hash function and the index. */
  INDEX,
  /** All files. */
  ALL
}
