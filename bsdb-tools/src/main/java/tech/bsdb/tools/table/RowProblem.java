package tech.bsdb.tools.table;

import org.jspecify.annotations.Nullable;

/** The first problem noted with the current row, if any. */
public final class RowProblem {
  private @Nullable String reason;
  private String detail = "";
  private @Nullable String keptReason;
  private String keptDetail = "";

  /** Begins a row. */
  public void clear() {
    reason = null;
  }

  /**
   * Notes a problem, unless there is one.
   *
   * @param reason the kind of problem, under which rows are counted
   * @param detail what the problem concerns, such as the column
   */
  public void note(String reason, String detail) {
    if (this.reason == null) {
      this.reason = reason;
      this.detail = detail;
    }
  }

  /** Notes the problem of another value, if it has one. */
  void note(RowProblem other) {
    if (other.reason != null) {
      note(other.reason, other.detail);
    }
  }

  /** Remembers the current problem, or that there is none. */
  public void keep() {
    keptReason = reason;
    keptDetail = detail;
  }

  /** Forgets what was noted since it was told to {@link #keep} the problem. */
  public void restore() {
    reason = keptReason;
    detail = keptDetail;
  }

  /** Returns the reason, or null if there is no problem. */
  public @Nullable String reason() {
    return reason;
  }

  public String detail() {
    return detail;
  }
}
