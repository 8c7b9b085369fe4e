package tech.bsdb.store;

/**
 * The files read into the page cache before a version goes live, so that its first lookups are
 * fast.
 */
public enum Preload {
  /** Nothing. */
  NONE,
  /** The hash function and the index. */
  INDEX,
  /** All files. */
  ALL
}
