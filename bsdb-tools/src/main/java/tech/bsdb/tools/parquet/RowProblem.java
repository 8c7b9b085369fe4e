package tech.bsdb.tools.parquet;

import org.jspecify.annotations.Nullable;

/** What is wrong with the row at hand, if anything: the first thing that was noted. */
final class RowProblem {
  private @Nullable String reason;
  private String detail = "";

  /** Begins a row. */
  void clear() {
    reason = null;
  }

  /**
   * Notes a problem, unless there is one.
   *
   * @param reason the same for all rows of that kind, under which they are counted
   * @param detail what it is about, such as the column
   */
  void note(String reason, String detail) {
    if (this.reason == null) {
      this.reason = reason;
      this.detail = detail;
    }
  }

  /** Null where all is well. */
  @Nullable String reason() {
    return reason;
  }

  String detail() {
    return detail;
  }
}
