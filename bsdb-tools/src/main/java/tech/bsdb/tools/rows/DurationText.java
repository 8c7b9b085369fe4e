package tech.bsdb.tools.rows;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Durations of months, days and milliseconds such as {@code P1M2DT3.004S} (ISO 8601). A year counts
 * as twelve months and a week as seven days; hours and minutes become milliseconds. Stored as three
 * unsigned four-byte numbers.
 */
final class DurationText extends ScalarText {
  private static final String DATE_PARTS = "YMWD";
  private static final String TIME_PARTS = "HMS";
  private static final int[] UNITS = {12, 1, 7, 1, 3_600_000, 60_000, 1_000};
  private static final int SECONDS = UNITS.length - 1;
  private static final int MILLI_DIGITS = 3;
  private static final long MAX_FIELD = 0xFFFF_FFFFL;

  private final long[] sums = new long[3];
  private final IsoScanner iso = new IsoScanner();

  DurationText() {
    super("a duration such as P1M2DT3.004S");
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    iso.begin(text, from, to);
    Arrays.fill(sums, 0);
    if (!addParts()) {
      return isNot();
    }
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

  private boolean addParts() {
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
}
