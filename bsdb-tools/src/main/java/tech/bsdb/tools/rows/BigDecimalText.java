package tech.bsdb.tools.rows;

import org.jspecify.annotations.Nullable;

/** Decimal numbers that each keep the scale they are written with (Avro's "big-decimal"). */
final class BigDecimalText extends ScalarText {
  private static final int MAX_DIGITS = 10_000; // guards readers against huge expansions

  private final NumberText number = new NumberText();
  private final RowBuffer form = new RowBuffer();

  @Override
  boolean accepts(Form form, boolean exactly) {
    return switch (form) {
      case INTEGER, FRACTION, FIELD -> true;
      case STRING -> !exactly;
      case BOOLEAN -> false;
    };
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    if (!number.parse(text, from, to)) {
      return isNot();
    }
    if (number.digits() > MAX_DIGITS || Math.abs(number.scale()) > MAX_DIGITS) {
      return "has more than " + MAX_DIGITS + " digits";
    }
    int scale = (int) number.scale();
    byte[] unscaled = number.unscaled(scale).toByteArray();
    this.form.reset();
    this.form.putLong(unscaled.length);
    this.form.put(unscaled);
    this.form.putLong(scale);
    out.putLong(this.form.length());
    out.put(this.form.bytes(), 0, this.form.length());
    return null;
  }

  @Override
  String name() {
    return "a decimal number";
  }
}
