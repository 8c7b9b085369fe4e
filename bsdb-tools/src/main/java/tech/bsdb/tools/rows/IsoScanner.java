package tech.bsdb.tools.rows;

import java.time.LocalDate;
import java.time.Month;
import java.time.Year;

/**
 * Scans a date, a time or an offset in the extended ISO 8601 forms, which have hyphens and colons.
 * Not thread-safe.
 */
final class IsoScanner {
  private static final int NANO_DIGITS = 9;

  private char[] text = {};
  private int at;
  private int end;

  private long epochDay;
  private int secondOfDay;
  private int fraction;
  private boolean finer;
  private int offsetSeconds;

  /** Starts scanning a text. */
  void begin(char[] chars, int from, int to) {
    text = chars;
    at = from;
    end = to;
    finer = false;
  }

  /** Whether the whole text has been scanned. */
  boolean isEnd() {
    return at == end;
  }

  /** Skips the given character if it is next. */
  boolean skip(char c) {
    if (at < end && text[at] == c) {
      at++;
      return true;
    }
    return false;
  }

  /** Returns the last date scanned, in days since 1970-01-01. */
  long epochDay() {
    return epochDay;
  }

  /**
   * Returns the second of the day of the last time scanned; 86,400 is midnight at the end of the
   * day.
   */
  int secondOfDay() {
    return secondOfDay;
  }

  /** Returns the fraction of a second of the last time scanned, in nanoseconds. */
  int fraction() {
    return fraction;
  }

  /** Whether that fraction has nonzero digits below nanoseconds. */
  boolean isFiner() {
    return finer;
  }

  /** Returns the last offset scanned, in seconds east of Greenwich. */
  int offsetSeconds() {
    return offsetSeconds;
  }

  /**
   * Skips a date such as {@code 2024-01-31}; years outside 0000 to 9999 have a sign and up to nine
   * digits.
   */
  boolean skipDate() {
    boolean negative = at < end && text[at] == '-';
    boolean signed = negative || (at < end && text[at] == '+');
    at += signed ? 1 : 0;
    int start = at;
    int year = 0;
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
    if (month < 1 || month > 12 || day < 1 || day > Month.of(month).length(Year.isLeap(year))) {
      return false;
    }
    epochDay = LocalDate.of(year, month, day).toEpochDay();
    return true;
  }

  /**
   * Skips a time: {@code 12:34}, {@code 12:34:56} or {@code 12:34:56.789}; {@code 24:00:00} is
   * valid.
   */
  boolean skipTime() {
    int hour = twoDigits();
    if (hour < 0 || hour > 24 || !skip(':')) {
      return false;
    }
    int minute = twoDigits();
    int second = 0;
    fraction = 0;
    finer = false;
    if (skip(':')) {
      second = twoDigits();
      if (skip('.') && !skipFraction()) {
        return false;
      }
    }
    secondOfDay = hour * 3600 + minute * 60 + second;
    boolean within = hour < 24 || (minute == 0 && second == 0 && fraction == 0 && !finer);
    return within && minute >= 0 && minute <= 59 && second >= 0 && second <= 59;
  }

  private boolean skipFraction() {
    int start = at;
    for (; at < end && isDigit(text[at]); at++) {
      int digit = text[at] - '0';
      if (at - start < NANO_DIGITS) {
        fraction = fraction * 10 + digit;
      } else {
        finer |= digit != 0;
      }
    }
    for (int digits = at - start; digits < NANO_DIGITS; digits++) {
      fraction *= 10;
    }
    return at > start;
  }

  /** Skips an offset, {@code Z}, {@code +01}, {@code +0130} or {@code +01:30}. */
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

  /** Skips two digits and returns their number; negative if they are not digits. */
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
