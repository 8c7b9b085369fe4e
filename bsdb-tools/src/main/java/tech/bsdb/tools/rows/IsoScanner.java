package tech.bsdb.tools.rows;

/**
 * Goes through a date, a time, an offset in the forms of ISO 8601 that have hyphens and colons. Not
 * thread-safe.
 */
final class IsoScanner {
  private static final int NANO_DIGITS = 9;
  private static final int[] DAYS_BEFORE = {
    0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365
  };

  private char[] text = {};
  private int at;
  private int end;

  private long epochDay;
  private int secondOfDay;
  private int nanos;
  private boolean finer;
  private int offsetSeconds;

  /** Begins a text. */
  void begin(char[] chars, int from, int to) {
    text = chars;
    at = from;
    end = to;
  }

  /** Whether all of the text was gone through. */
  boolean isEnd() {
    return at == end;
  }

  /** Goes past a character, if it is there. */
  boolean skip(char c) {
    if (at < end && text[at] == c) {
      at++;
      return true;
    }
    return false;
  }

  /** Days since 1970-01-01 of the date that was there last. */
  long epochDay() {
    return epochDay;
  }

  /** Of the time that was there last; 86,400 is midnight at the end of the day. */
  int secondOfDay() {
    return secondOfDay;
  }

  /** Of the time that was there last, below the second. */
  int nanos() {
    return nanos;
  }

  /** Whether that time has more digits than nanoseconds, and not all zero. */
  boolean isFiner() {
    return finer;
  }

  /** East of Greenwich, of the offset that was there last. */
  int offsetSeconds() {
    return offsetSeconds;
  }

  /**
   * Goes past a date, {@code 2024-01-31}; years beyond 0000 to 9999 have a sign and up to nine
   * digits.
   */
  boolean skipDate() {
    boolean negative = at < end && text[at] == '-';
    boolean signed = negative || (at < end && text[at] == '+');
    at += signed ? 1 : 0;
    int start = at;
    long year = 0;
    while (at < end && at - start < NANO_DIGITS && isDigit(text[at])) {
      year = year * 10 + (text[at++] - '0');
    }
    int digits = at - start;
    boolean expanded = digits > 4 && text[start] != '0';
    if (signed ? !(expanded || (negative && digits == 4 && year > 0)) : digits != 4) {
      return false;
    }
    year = negative ? -year : year;
    if (!skip('-')) {
      return false;
    }
    int month = twoDigits();
    if (!skip('-')) {
      return false;
    }
    int day = twoDigits();
    boolean leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12 || day < 1 || day > daysOf(month, leap)) {
      return false;
    }
    long before = year - 1; // whole years before it, from year 1 on
    epochDay =
        365 * before
            + Math.floorDiv(before, 4)
            - Math.floorDiv(before, 100)
            + Math.floorDiv(before, 400)
            + DAYS_BEFORE[month - 1]
            + (leap && month > 2 ? 1 : 0)
            + day
            - 1
            - 719_162; // days from 0001-01-01 to 1970-01-01
    return true;
  }

  private static int daysOf(int month, boolean leap) {
    return month == 2 && leap ? 29 : DAYS_BEFORE[month] - DAYS_BEFORE[month - 1];
  }

  /**
   * Goes past a time, {@code 12:34}, {@code 12:34:56} or {@code 12:34:56.789}; {@code 24:00:00} is
   * one.
   */
  boolean skipTime() {
    int hour = twoDigits();
    if (hour < 0 || hour > 24 || !skip(':')) {
      return false;
    }
    int minute = twoDigits();
    int second = 0;
    nanos = 0;
    finer = false;
    if (skip(':')) {
      second = twoDigits();
      if (skip('.') && !skipFraction()) {
        return false;
      }
    }
    secondOfDay = hour * 3600 + minute * 60 + second;
    boolean within = hour < 24 || (minute == 0 && second == 0 && nanos == 0 && !finer);
    return within && minute >= 0 && minute <= 59 && second >= 0 && second <= 59;
  }

  private boolean skipFraction() {
    int start = at;
    for (; at < end && isDigit(text[at]); at++) {
      int digit = text[at] - '0';
      if (at - start < NANO_DIGITS) {
        nanos = nanos * 10 + digit;
      } else {
        finer |= digit != 0;
      }
    }
    for (int digits = at - start; digits < NANO_DIGITS; digits++) {
      nanos *= 10;
    }
    return at > start;
  }

  /** Goes past an offset, {@code Z}, {@code +01}, {@code +0130} or {@code +01:30}. */
  boolean skipOffset() {
    offsetSeconds = 0;
    if (skip('Z')) {
      return true;
    }
    int sign = skip('+') ? 1 : skip('-') ? -1 : 0;
    int hour = twoDigits();
    if (sign == 0 || hour < 0 || hour > 23) {
      return false;
    }
    int minute = skip(':') || at < end ? twoDigits() : 0;
    offsetSeconds = sign * (hour * 3600 + minute * 60);
    return minute >= 0 && minute <= 59;
  }

  /** The number of two digits, which are gone past, or less than 0 if they are none. */
  private int twoDigits() {
    if (end - at < 2 || !isDigit(text[at]) || !isDigit(text[at + 1])) {
      return -1;
    }
    int number = (text[at] - '0') * 10 + (text[at + 1] - '0');
    at += 2;
    return number;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
