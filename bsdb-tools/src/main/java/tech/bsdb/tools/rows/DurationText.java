package tech.bsdb.tools.rows;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Durations of months, days and milliseconds such as {@code P1M2DT3.004S} (ISO 8601). A year counts
 * as twelve months and a week as seven days; hours and minutes become milliseconds. Stored as three
 * unsigned four-byte numbers.
 */
final class DurationText extends ScalarText {
  /** Size of a duration in bytes. */
  static final int BYTES = 12;

  private static final String DATE_PARTS = "YMWD";
  private static final String TIME_PARTS = "HMS";
  private static final int[] UNITS = {12, 1, 7, 1, 3_600_000, 60_000, 1_000};
  private static final int SECONDS = UNITS.length - 1;
  private static final int MILLI_DIGITS = 3;
  private static final long MAX_FIELD = 0xFFFF_FFFFL;

  private final long[] sums = new long[3];
  private char[] text = {};
  private int at;
  private int end;
  private long number;
  private long fraction;
  private boolean finer;

  @Override
  boolean accepts(Form form, boolean exactly) {
    return form == Form.STRING || form == Form.FIELD;
  }

  @Override
  @Nullable String put(Form form, char[] chars, int from, int to, RowBuffer out) {
    text = chars;
    at = from;
    end = to;
    finer = false;
    Arrays.fill(sums, 0);
    if (!addParts()) {
      return isNot();
    }
    if (finer) {
      return "is finer than milliseconds";
    }
    for (long sum : sums) {
      if (sum > MAX_FIELD) {
        return "is beyond " + MAX_FIELD + " months, days or milliseconds";
      }
    }
    for (long sum : sums) {
      out.putFourBytes((int) sum);
    }
    return null;
  }

  private boolean addParts() {
    if (!skip('P')) {
      return false;
    }
    int last = -1;
    boolean time = false;
    while (at < end) {
      if (!time && skip('T')) {
        time = true;
        last = DATE_PARTS.length() - 1;
      }
      if (!takeNumber() || at == end) {
        return false;
      }
      char letter = text[at++];
      int part =
          time ? DATE_PARTS.length() + TIME_PARTS.indexOf(letter) : DATE_PARTS.indexOf(letter);
      if (part <= last || (fraction >= 0 && part != SECONDS)) {
        return false;
      }
      sums[part < 2 ? 0 : part < 4 ? 1 : 2] += number * UNITS[part] + Math.max(0, fraction);
      last = part;
    }
    return last >= 0;
  }

  /** Reads digits and an optional fraction, which is -1 if absent. */
  private boolean takeNumber() {
    int start = at;
    number = 0;
    fraction = -1;
    for (; at < end && isDigit(text[at]); at++) {
      number = Math.min(MAX_FIELD + 1, number * 10 + (text[at] - '0'));
    }
    return at > start && (!skip('.') || takeFraction());
  }

  private boolean takeFraction() {
    int start = at;
    fraction = 0;
    for (; at < end && isDigit(text[at]); at++) {
      int digit = text[at] - '0';
      if (at - start < MILLI_DIGITS) {
        fraction = fraction * 10 + digit;
      } else {
        finer |= digit != 0;
      }
    }
    for (int digits = at - start; digits < MILLI_DIGITS; digits++) {
      fraction *= 10;
    }
    return at > start;
  }

  private boolean skip(char c) {
    if (at < end && text[at] == c) {
      at++;
      return true;
    }
    return false;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  @Override
  String name() {
    return "a duration such as P1M2DT3.004S";
  }
}
