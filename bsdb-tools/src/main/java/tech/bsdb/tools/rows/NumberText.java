package tech.bsdb.tools.rows;

import java.math.BigInteger;

/**
 * A parsed JSON number (RFC 8259, section 6): its digits, and how many of them follow the point.
 * Not thread-safe.
 */
final class NumberText {
  private static final long FAR = 1L << 40;
  private static final int LONG_DIGITS = 18;

  private boolean negative;
  private char[] digits = new char[32];
  private int count;
  private long scale;

  /** Whether a range of text is a number. */
  static boolean isNumber(char[] text, int from, int to) {
    int at = from < to && text[from] == '-' ? from + 1 : from;
    int end = digitsEnd(text, at, to);
    if (end == at || (text[at] == '0' && end > at + 1)) {
      return false;
    }
    at = end;
    if (at < to && text[at] == '.') {
      end = digitsEnd(text, at + 1, to);
      if (end == at + 1) {
        return false;
      }
      at = end;
    }
    if (at < to && (text[at] == 'e' || text[at] == 'E')) {
      at++;
      if (at < to && (text[at] == '+' || text[at] == '-')) {
        at++;
      }
      end = digitsEnd(text, at, to);
      return end > at && end == to;
    }
    return at == to;
  }

  private static int digitsEnd(char[] text, int from, int to) {
    int at = from;
    while (at < to && text[at] >= '0' && text[at] <= '9') {
      at++;
    }
    return at;
  }

  /** Parses a number; returns false if it is not one. */
  boolean parse(char[] text, int from, int to) {
    if (!isNumber(text, from, to)) {
      return false;
    }
    if (digits.length < to - from) {
      digits = new char[Math.max(to - from, 2 * digits.length)];
    }
    negative = text[from] == '-';
    count = 0;
    scale = 0;
    boolean behindPoint = false;
    for (int at = negative ? from + 1 : from; at < to; at++) {
      char c = text[at];
      if (c == '.') {
        behindPoint = true;
      } else if (c == 'e' || c == 'E') {
        scale -= exponent(text, at + 1, to);
        break;
      } else {
        if (count > 0 || c != '0') {
          digits[count++] = c;
        }
        scale += behindPoint ? 1 : 0;
      }
    }
    return true;
  }

  private static long exponent(char[] text, int from, int to) {
    long exponent = 0;
    for (int at = from; at < to; at++) {
      char c = text[at];
      if (c >= '0') {
        exponent = Math.min(FAR, exponent * 10 + (c - '0'));
      }
    }
    return text[from] == '-' ? -exponent : exponent;
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
