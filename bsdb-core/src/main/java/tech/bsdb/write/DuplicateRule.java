package tech.bsdb.write;

/** What an assembly does with records that have the same key. */
public enum DuplicateRule {
  /** It fails. */
  REJECT,
  /** It keeps the record that was added first. */
  KEEP_FIRST,
  /** It keeps the record that was added last. */
  KEEP_LAST
}
