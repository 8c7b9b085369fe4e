package tech.bsdb.tools.rows;

import org.jspecify.annotations.Nullable;

/** {@code true} or {@code false}. */
final class BooleanText extends ScalarText {
  @Override
  boolean accepts(Form form, boolean exactly) {
    return form == Form.BOOLEAN || form == Form.FIELD;
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    boolean isTrue = isWord("true", text, from, to);
    if (!isTrue && !isWord("false", text, from, to)) {
      return isNot();
    }
    out.put(isTrue ? 1 : 0);
    return null;
  }

  @Override
  String name() {
    return "true or false";
  }
}
