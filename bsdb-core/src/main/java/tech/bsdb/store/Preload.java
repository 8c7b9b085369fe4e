package tech.bsdb.store;

/**
 * The files read into the page cache before a version goes live, so that its first lookups are
 * fast. Those of a remote version are copied to the pages on disk once it is live, as {@link
 * tech.bsdb.Database#preload} does.
 */
public enum Preload {
  /** Nothing. */
  NONE,
  /** The hash function and the index. */
  INDEX,
  /** All files. */
  ALL
}
