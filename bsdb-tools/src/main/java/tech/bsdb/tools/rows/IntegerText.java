package tech.bsdb.tools.rows;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * Whole numbers such as {@code -12}. Strings are accepted too, for programs without numbers that
 * large, and so are {@code 12.0} and {@code 1.2e1}, which are whole.
 */
final class IntegerText extends ScalarText {
  private static final int LONG_DIGITS = 19;

  private final long min;
  private final long max;
  private final NumberText number = new NumberText();

  IntegerText(String name, long min, long max) {
    super(name);
    this.min = min;
    this.max = max;
  }

  @Override
  boolean accepts(Form form, boolean exactly) {
    return switch (form) {
      case INTEGER, FIELD -> true;
      case STRING, FRACTION -> !exactly;
      case BOOLEAN -> false;
    };
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    boolean negative = from < to && text[from] == '-';
    int first = negative ? from + 1 : from;
    int digits = to - first;
    if (digits == 0 || digits >= LONG_DIGITS || (text[first] == '0' && digits > 1)) {
      return putOther(text, from, to, out);
    }
    long value = 0;
    for (int at = first; at < to; at++) {
      int digit = text[at] - '0';
      if (digit < 0 || digit > 9) {
        return putOther(text, from, to, out);
      }
      value = value * 10 + digit;
    }
    return put(negative ? -value : value, out);
  }

  private @Nullable String put(long value, RowBuffer out) {
    if (value < min || value > max) {
      return isBeyond();
    }
    out.putLong(value);
    return null;
  }

  private @Nullable String putOther(char[] text, int from, int to, RowBuffer out) {
    if (!number.parse(text, from, to) || !number.rescale(0)) {
      return isNot();
    }
    if (number.digitsAt(0) > LONG_DIGITS) {
      return isBeyond();
    }
    BigInteger value = number.unscaled(0);
    return value.bitLength() < Long.SIZE ? put(value.longValue(), out) : isBeyond();
  }
}
