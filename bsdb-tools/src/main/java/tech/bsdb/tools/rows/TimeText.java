package tech.bsdb.tools.rows;

import java.nio.CharBuffer;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Dates, times and timestamps in ISO 8601; durations beside them. */
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
      try {
        out.putLong(Math.addExact(Math.multiplyExact(seconds, unit.perSecond()), fraction));
        return null;
      } catch (ArithmeticException beyond) {
        return "is beyond the range of " + unit.name() + " since 1970";
      }
    }
  }

  /**
   * Durations of months, days and milliseconds such as {@code P1M2DT3.004S} (ISO 8601). A year
   * counts as twelve months and a week as seven days; hours and minutes become milliseconds. Stored
   * as three unsigned four-byte numbers.
   */
  static final class Duration extends ScalarText {
    private static final Pattern PARTS =
        Pattern.compile(
            "P(?=.)(?:(\\d+)Y)?(?:(\\d+)M)?(?:(\\d+)W)?(?:(\\d+)D)?"
                + "(?:T(?=.)(?:(\\d+)H)?(?:(\\d+)M)?(?:(\\d+)(?:\\.(\\d+))?S)?)?");
    private static final int[] UNITS = {12, 1, 7, 1, 3_600_000, 60_000, 1_000};
    private static final long MAX_FIELD = 0xFFFF_FFFFL;

    Duration() {
      super("a duration such as P1M2DT3.004S");
    }

    @Override
    @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
      Matcher parts = PARTS.matcher(CharBuffer.wrap(text, from, to - from));
      if (!parts.matches()) {
        return isNot();
      }
      String fraction = Objects.requireNonNullElse(parts.group(UNITS.length + 1), "") + "000";
      if (fraction.chars().skip(3).anyMatch(digit -> digit != '0')) {
        return "is finer than milliseconds";
      }
      long[] sums = {0, 0, Integer.parseInt(fraction.substring(0, 3))};
      for (int part = 0; part < UNITS.length; part++) {
        sums[part < 2 ? 0 : part < 4 ? 1 : 2] += number(parts.group(part + 1)) * UNITS[part];
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

    /** Returns a number, or one that is too large if it has more digits than one that fits. */
    private static long number(@Nullable String digits) {
      String significant = digits == null ? "0" : digits.replaceFirst("^0+(?=.)", "");
      return significant.length() > 10 ? MAX_FIELD + 1 : Long.parseLong(significant);
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
