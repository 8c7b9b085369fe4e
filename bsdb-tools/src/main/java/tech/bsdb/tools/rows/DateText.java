package tech.bsdb.tools.rows;

import org.jspecify.annotations.Nullable;

/** Dates such as {@code 2024-01-31}, stored as days since 1970-01-01. */
final class DateText extends ScalarText {
  private final IsoScanner iso = new IsoScanner();

  @Override
  boolean accepts(Form form, boolean exactly) {
    return form == Form.STRING || form == Form.FIELD;
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    iso.begin(text, from, to);
    if (!iso.skipDate() || !iso.isEnd()) {
      return isNot();
    }
    if (iso.epochDay() != (int) iso.epochDay()) {
      return "is beyond the range of a date";
    }
    out.putLong(iso.epochDay());
    return null;
  }

  @Override
  String name() {
    return "a date such as 2024-01-31";
  }
}
