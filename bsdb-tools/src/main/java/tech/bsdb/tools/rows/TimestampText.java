package tech.bsdb.tools.rows;

import org.jspecify.annotations.Nullable;

/**
 * Timestamps such as {@code 2024-01-31T12:34:56.789Z}: points in time have an offset, local ones do
 * not; a blank may replace the T. Stored as units since 1970-01-01T00:00.
 */
final class TimestampText extends ScalarText {
  private static final long DAY_SECONDS = 86_400;

  private final TimeText.Unit unit;
  private final boolean point;
  private final IsoScanner iso = new IsoScanner();

  /** Creates a type whose unit has 3, 6 or 9 fraction digits. */
  TimestampText(int digits, boolean point) {
    this.unit = TimeText.Unit.ofDigits(digits);
    this.point = point;
  }

  @Override
  boolean accepts(Form form, boolean exactly) {
    return form == Form.STRING || form == Form.FIELD;
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    iso.begin(text, from, to);
    if (!iso.skipDate() || !(iso.skip('T') || iso.skip(' ')) || !iso.skipTime()) {
      return isNot();
    }
    boolean within = iso.secondOfDay() < DAY_SECONDS;
    if (!within || (point && !iso.skipOffset()) || !iso.isEnd()) {
      return isNot();
    }
    if (unit.isCoarserThan(iso)) {
      return unit.tooFine();
    }
    long seconds = iso.epochDay() * DAY_SECONDS + iso.secondOfDay();
    if (point) {
      seconds -= iso.offsetSeconds();
    }
    long fraction = iso.nanos() / unit.nanos();
    if (seconds < 0) { // counted back from the following second, so that the minimum is reachable
      seconds++;
      fraction -= unit.perSecond();
    }
    long whole = seconds * unit.perSecond();
    if (Math.multiplyHigh(seconds, unit.perSecond()) != whole >> 63) {
      return beyond();
    }
    long units = whole + fraction;
    if (((whole ^ units) & (fraction ^ units)) < 0) {
      return beyond();
    }
    out.putLong(units);
    return null;
  }

  private String beyond() {
    return "is beyond the range of " + unit.name() + " since 1970";
  }

  @Override
  String name() {
    return point
        ? "a timestamp with an offset such as 2024-01-31T12:34:56.789Z"
        : "a local timestamp such as 2024-01-31T12:34:56.789";
  }
}
