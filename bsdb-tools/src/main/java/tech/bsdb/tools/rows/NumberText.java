package tech.bsdb.tools.rows;

import java.math.BigInteger;

/**
 * A parsed JSON number (RFC 8259, section 6): its digits, and how many of them follow the point.
 * Not thread-safe.
 */
final class NumberText {
  private static final long FAR = 1L << 40;
  private static final int LONG_DIGITS = 18;

  /** Where the digits begin, where the point is or would be, and where the digits end. */
  private int first;

  private int point;
  private int last;

  private boolean negative;
  private long exponent;
  private char[] digits = new char[32];
  private int count;
  private long scale;

  /** Parses a number; returns false if it is not one. */
  boolean parse(char[] text, int from, int to) {
    if (!isNumber(text, from, to)) {
      return false;
    }
    if (digits.length < to - from) {
      digits = new char[Math.max(to - from, 2 * digits.length)];
    }
    count = 0;
    for (int at = first; at < last; at++) {
      if (at != point && (count > 0 || text[at] != '0')) {
        digits[count++] = text[at];
      }
    }
    scale = Math.max(0, last - point - 1) - exponent;
    return true;
  }

  /** Whether a range of text is a number. */
  boolean isNumber(char[] text, int from, int to) {
    negative = from < to && text[from] == '-';
    exponent = 0;
    first = negative ? from + 1 : from;
    point = digitsEnd(text, first, to);
    last = point;
    if (point == first || (text[first] == '0' && point > first + 1)) {
      return false;
    }
    if (point < to && text[point] == '.') {
      last = digitsEnd(text, point + 1, to);
      if (last == point + 1) {
        return false;
      }
    }
    return last == to || ((text[last] | 0x20) == 'e' && isExponent(text, last + 1, to));
  }

  private boolean isExponent(char[] text, int from, int to) {
    boolean below = from < to && text[from] == '-';
    int start = below || (from < to && text[from] == '+') ? from + 1 : from;
    for (int at = start; at < to; at++) {
      if (text[at] < '0' || text[at] > '9') {
        return false;
      }
      exponent = Math.min(FAR, exponent * 10 + (text[at] - '0'));
    }
    exponent = below ? -exponent : exponent;
    return start < to;
  }

  private static int digitsEnd(char[] text, int from, int to) {
    int at = from;
    while (at < to && text[at] >= '0' && text[at] <= '9') {
      at++;
    }
    return at;
  }

  /** Returns the number of significant digits, from the first nonzero one. */
  int digits() {
    return count;
  }

  /** Returns the number of digits after the point; negative if zeros before it are omitted. */
  long scale() {
    return scale;
  }

  /**
   * Changes the number of digits after the point.
   *
   * @return false if that would drop a nonzero digit
   */
  boolean rescale(int wanted) {
    if (count == 0) {
      scale = wanted;
      return true;
    }
    while (scale > wanted && digits[count - 1] == '0') {
      count--;
      scale--;
    }
    return scale <= wanted;
  }

  /**
   * Returns how many digits it has after {@link #rescale}, including trailing zeros not yet stored.
   */
  long digitsAt(int wanted) {
    return count == 0 ? 0 : count + (wanted - scale);
  }

  /** Whether that many digits of {@link #unscaled} always fit in a long. */
  static boolean isLong(long digits) {
    return digits <= LONG_DIGITS;
  }

  /** Returns the unscaled number for a scale; it must fit in a long. */
  long unscaledLong(int wanted) {
    long number = 0;
    for (int i = 0; i < count; i++) {
      number = number * 10 + (digits[i] - '0');
    }
    for (long i = count == 0 ? wanted : scale; i < wanted; i++) {
      number *= 10;
    }
    return negative ? -number : number;
  }

  /** Returns the unscaled number for a scale. */
  BigInteger unscaled(int wanted) {
    BigInteger number = count == 0 ? BigInteger.ZERO : new BigInteger(new String(digits, 0, count));
    if (count > 0 && wanted > scale) {
      number = number.multiply(BigInteger.TEN.pow((int) (wanted - scale)));
    }
    return negative ? number.negate() : number;
  }
}
