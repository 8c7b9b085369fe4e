package tech.bsdb.tools.where;

/** Whether a condition is true. SQL's null counts as not true: it does not select a row. */
public enum Verdict {
  /** It is not true. */
  NO,
  /** It depends on what is not known. */
  MAYBE,
  /** It is true. */
  YES;

  /** Returns yes or no. */
  static Verdict of(boolean yes) {
    return yes ? YES : NO;
  }
}
