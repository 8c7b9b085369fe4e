package tech.bsdb.tools.rows;

import java.math.BigInteger;

/**
 * A number as JSON writes it (RFC 8259, section 6), taken apart: its digits, and how many of them
 * stand behind the point. Not thread-safe.
 */
final class NumberText {
  private static final long FAR = 1L << 40;
  private static final int LONG_DIGITS = 18;

  private boolean negative;
  private char[] digits = new char[32];
  private int count;
  private long scale;

  /** Whether a range of a text is a number. */
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

  /** Takes a number apart; false if it is none. */
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

  /** Digits that count, from the first that is not zero. */
  int digits() {
    return count;
  }

  /** How many digits stand behind the point; less than 0 where zeros are left out before it. */
  long scale() {
    return scale;
  }

  /**
   * Writes it with so many digits behind the point, no matter how many it was written with.
   *
   * @return false if that takes a digit that is not zero away
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

  /** How many digits {@link #rescale} gave it, with zeros behind that are not there yet. */
  long digitsAt(int wanted) {
    return count == 0 ? 0 : count + (wanted - scale);
  }

  /** Whether that many digits, which {@link #unscaled} would have, are a long in any case. */
  static boolean isLong(long digits) {
    return digits <= LONG_DIGITS;
  }

  /** The number without its point, with so many digits behind it; they are a long. */
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

  /** The number without its point, with so many digits behind it. */
  BigInteger unscaled(int wanted) {
    BigInteger number = count == 0 ? BigInteger.ZERO : new BigInteger(new String(digits, 0, count));
    if (count > 0 && wanted > scale) {
      number = number.multiply(BigInteger.TEN.pow((int) (wanted - scale)));
    }
    return negative ? number.negate() : number;
  }
}
