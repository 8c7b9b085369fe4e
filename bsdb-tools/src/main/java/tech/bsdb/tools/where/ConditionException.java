package tech.bsdb.tools.where;

/** A condition is not written correctly, or does not fit the columns; the message says where. */
public final class ConditionException extends Exception {
  private static final long serialVersionUID = 1L;

  private static final int SHOWN = 20;

  /**
   * Creates an exception.
   *
   * @param condition the whole condition
   * @param position where in it the problem is, from 0
   * @param message what is wrong there, and what would be right
   */
  ConditionException(String condition, int position, String message) {
    super("--where, " + place(condition, position) + ": " + message);
  }

  private static String place(String condition, int position) {
    if (position >= condition.length()) {
      return "at its end";
    }
    int end = Math.min(condition.length(), position + SHOWN);
    return "at character %s (%s%s)"
        .formatted(
            condition.codePointCount(0, position) + 1,
            condition.substring(position, end),
            end < condition.length() ? "..." : "");
  }
}
