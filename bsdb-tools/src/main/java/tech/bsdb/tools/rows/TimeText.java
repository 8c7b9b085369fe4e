package tech.bsdb.tools.rows;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Dates, times, timestamps and durations in ISO 8601. */
abstract class TimeText extends ScalarText {
  private static final long DAY_SECONDS = 86_400;

  final IsoScanner iso = new IsoScanner();

  TimeText(String name) {
    super(name);
  }

  @Override
  final @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    iso.begin(text, from, to);
    if (!scan() || !iso.isEnd()) {
      return isNot();
    }
    return putScanned(out);
  }

  /** Scans a value; returns whether it is well-formed, whatever follows it. */
  abstract boolean scan();

  /** Writes the value scanned; returns null, or what is wrong with it. */
  abstract @Nullable String putScanned(RowBuffer out);

  /** Dates such as {@code 2024-01-31}, stored as days since 1970-01-01. */
  static final class OfDate extends TimeText {
    OfDate() {
      super("a date such as 2024-01-31");
    }

    @Override
    boolean scan() {
      return iso.skipDate();
    }

    @Override
    @Nullable String putScanned(RowBuffer out) {
      if (iso.epochDay() != (int) iso.epochDay()) {
        return "is beyond the range of a date";
      }
      out.putLong(iso.epochDay());
      return null;
    }
  }

  /** Times of day such as {@code 12:34:56.789}, stored as units since midnight. */
  static final class OfDay extends TimeText {
    private final Unit unit;

    /** Creates a type whose unit has 3, 6 or 9 fraction digits. */
    OfDay(int digits) {
      super("a time such as 12:34:56.789");
      this.unit = Unit.ofDigits(digits);
    }

    @Override
    boolean scan() {
      return iso.skipTime();
    }

    @Override
    @Nullable String putScanned(RowBuffer out) {
      if (unit.isCoarserThan(iso)) {
        return unit.tooFine();
      }
      out.putLong(iso.secondOfDay() * unit.perSecond() + iso.fraction() / unit.nanos());
      return null;
    }
  }

  /**
   * Timestamps such as {@code 2024-01-31T12:34:56.789Z}: points in time have an offset, local ones
   * do not; a blank may replace the T. Stored as units since 1970-01-01T00:00.
   */
  static final class Timestamp extends TimeText {
    private final Unit unit;
    private final boolean point;

    /** Creates a type whose unit has 3, 6 or 9 fraction digits. */
    Timestamp(int digits, boolean point) {
      super(
          point
              ? "a timestamp with an offset such as 2024-01-31T12:34:56.789Z"
              : "a local timestamp such as 2024-01-31T12:34:56.789");
      this.unit = Unit.ofDigits(digits);
      this.point = point;
    }

    @Override
    boolean scan() {
      return iso.skipDate()
          && (iso.skip('T') || iso.skip(' '))
          && iso.skipTime()
          && iso.secondOfDay() < DAY_SECONDS
          && (!point || iso.skipOffset());
    }

    @Override
    @Nullable String putScanned(RowBuffer out) {
      if (unit.isCoarserThan(iso)) {
        return unit.tooFine();
      }
      long seconds = iso.epochDay() * DAY_SECONDS + iso.secondOfDay();
      if (point) {
        seconds -= iso.offsetSeconds();
      }
      long fraction = iso.fraction() / unit.nanos();
      if (seconds < 0) { // counted back from the following second, so that the minimum is reachable
        seconds++;
        fraction -= unit.perSecond();
      }
      long whole = seconds * unit.perSecond();
      long units = whole + fraction;
      if (Math.multiplyHigh(seconds, unit.perSecond()) != whole >> 63
          || ((whole ^ units) & (fraction ^ units)) < 0) {
        return "is beyond the range of " + unit.name() + " since 1970";
      }
      out.putLong(units);
      return null;
    }
  }

  /**
   * Durations of months, days and milliseconds such as {@code P1M2DT3.004S} (ISO 8601). A year
   * counts as twelve months and a week as seven days; hours and minutes become milliseconds. Stored
   * as three unsigned four-byte numbers.
   */
  static final class Duration extends TimeText {
    private static final String DATE_PARTS = "YMWD";
    private static final String TIME_PARTS = "HMS";
    private static final int[] UNITS = {12, 1, 7, 1, 3_600_000, 60_000, 1_000};
    private static final int SECONDS = UNITS.length - 1;
    private static final int MILLI_DIGITS = 3;
    private static final long MAX_FIELD = 0xFFFF_FFFFL;

    private final long[] sums = new long[3];

    Duration() {
      super("a duration such as P1M2DT3.004S");
    }

    @Override
    boolean scan() {
      Arrays.fill(sums, 0);
      if (!iso.skip('P')) {
        return false;
      }
      int last = -1;
      boolean time = false;
      while (!iso.isEnd()) {
        if (!time && iso.skip('T')) {
          time = true;
          last = DATE_PARTS.length() - 1;
        }
        long number = iso.skipNumber(MAX_FIELD + 1);
        boolean fractional = iso.skip('.');
        if (number < 0 || (fractional && !iso.skipFraction(MILLI_DIGITS)) || iso.isEnd()) {
          return false;
        }
        char letter = iso.next();
        int part =
            time ? DATE_PARTS.length() + TIME_PARTS.indexOf(letter) : DATE_PARTS.indexOf(letter);
        if (part <= last || (fractional && part != SECONDS)) {
          return false;
        }
        sums[part < 2 ? 0 : part < 4 ? 1 : 2] +=
            number * UNITS[part] + (fractional ? iso.fraction() : 0);
        last = part;
      }
      return last >= 0;
    }

    @Override
    @Nullable String putScanned(RowBuffer out) {
      if (iso.isFiner()) {
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
  }

  /** The unit of a time. */
  private record Unit(String name, long perSecond, int nanos) {
    /** Returns the unit with 3, 6 or 9 fraction digits. */
    static Unit ofDigits(int digits) {
      return switch (digits) {
        case 3 -> new Unit("milliseconds", 1_000, 1_000_000);
        case 6 -> new Unit("microseconds", 1_000_000, 1_000);
        default -> new Unit("nanoseconds", 1_000_000_000, 1);
      };
    }

    boolean isCoarserThan(IsoScanner iso) {
      return iso.isFiner() || iso.fraction() % nanos != 0;
    }

    String tooFine() {
      return "is finer than " + name;
    }
  }
}
