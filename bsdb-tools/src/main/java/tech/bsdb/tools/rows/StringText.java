package tech.bsdb.tools.rows;

import org.jspecify.annotations.Nullable;

/** Plain text. */
final class StringText extends ScalarText {
  @Override
  boolean accepts(Form form, boolean exactly) {
    return form == Form.STRING || form == Form.FIELD;
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    return out.putText(text, from, to, true) ? null : "has a lone surrogate";
  }

  @Override
  @Nullable String put(byte[] utf8, int from, int length, RowBuffer out) {
    out.putLong(length);
    out.put(utf8, from, length);
    return null;
  }

  @Override
  String name() {
    return "a string";
  }
}
