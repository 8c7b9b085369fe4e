package tech.bsdb.tools.rows;

/**
 * Writes dates and times in ISO 8601, in the proleptic Gregorian calendar, over the whole range of
 * the numbers. Years before 0 or after 9999 have a sign; fractions of a second have as many digits
 * as needed, in groups of three. Pure and allocation-free.
 */
final class IsoText {
  /** Length in bytes of the longest text, a timestamp of the year -292275055 with nanoseconds. */
  static final int LONGEST = 48;

  private static final int DAY = 86_400;

  /** Days from 1 March of year 0 to 1 January 1970. */
  private static final long EPOCH = 719_468;

  /** Days in 400 years. */
  private static final long CYCLE = 146_097;

  private IsoText() {}

  /**
   * Writes a date.
   *
   * @param epochDay days since 1970-01-01
   * @return where in the target it ends
   */
  static int date(long epochDay, byte[] target, int offset) {
    // Years begin in March, so that a leap day is the last day of its year.
    long days = epochDay + EPOCH;
    long cycle = Math.floorDiv(days, CYCLE);
    int day = (int) (days - cycle * CYCLE);
    int yearOfCycle = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    int dayOfYear = day - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100);
    int march = (5 * dayOfYear + 2) / 153;
    int dayOfMonth = dayOfYear - (153 * march + 2) / 5 + 1;
    int month = march < 10 ? march + 3 : march - 9;
    long year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0);
    int at = year(year, target, offset);
    target[at++] = '-';
    at = digits(month, 2, target, at);
    target[at++] = '-';
    return digits(dayOfMonth, 2, target, at);
  }

  private static int year(long year, byte[] target, int offset) {
    int at = offset;
    long positive = Math.abs(year);
    if (year < 0) {
      target[at++] = '-';
    } else if (year > 9999) {
      target[at++] = '+';
    }
    int count = 4;
    for (long limit = 10_000; positive >= limit; limit *= 10) {
      count++;
    }
    return digits(positive, count, target, at);
  }

  /**
   * Writes a time of day.
   *
   * @param second the second of the day; 86,400 is midnight at its end
   * @param fraction the fraction of the second
   * @param digits the number of fraction digits: 3, 6 or 9
   * @return where in the target it ends
   */
  static int time(int second, int fraction, int digits, byte[] target, int offset) {
    int at = digits(second / 3600, 2, target, offset);
    target[at++] = ':';
    at = digits(second / 60 % 60, 2, target, at);
    target[at++] = ':';
    at = digits(second % 60, 2, target, at);
    return fraction(fraction, digits, target, at);
  }

  /** Writes a point and the fraction of a second; nothing if it is 0. */
  static int fraction(int fraction, int digits, byte[] target, int offset) {
    if (fraction == 0) {
      return offset;
    }
    int shown = fraction;
    int count = digits;
    while (shown % 1000 == 0) {
      shown /= 1000;
      count -= 3;
    }
    target[offset] = '.';
    return digits(shown, count, target, offset + 1);
  }

  /**
   * Writes a date and a time.
   *
   * @param number units since 1970-01-01T00:00:00
   * @param digits the number of fraction digits of a unit: 3, 6 or 9
   * @return where in the target it ends
   */
  static int timestamp(long number, int digits, byte[] target, int offset) {
    int units = units(digits);
    long seconds = Math.floorDiv(number, units);
    int fraction = (int) (number - seconds * units);
    long day = Math.floorDiv(seconds, DAY);
    int at = date(day, target, offset);
    target[at++] = 'T';
    return time((int) (seconds - day * DAY), fraction, digits, target, at);
  }

  /** Returns the units in a second. */
  static int units(int digits) {
    return digits == 3 ? 1_000 : digits == 6 ? 1_000_000 : 1_000_000_000;
  }

  private static int digits(long number, int count, byte[] target, int offset) {
    long left = number;
    for (int at = offset + count - 1; at >= offset; at--) {
      target[at] = (byte) ('0' + left % 10);
      left /= 10;
    }
    return offset + count;
  }
}
