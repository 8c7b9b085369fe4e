package tech.bsdb.tools.rows;

import org.jspecify.annotations.Nullable;

/** Times of day such as {@code 12:34:56.789}, stored as units since midnight. */
final class TimeText extends ScalarText {
  /** A bsdb logical type on a long: nanoseconds of a day, for which Avro has no type. */
  static final String NANOS = "time-nanos";

  private final Unit unit;
  private final IsoScanner iso = new IsoScanner();

  /** Creates a type whose unit has 3, 6 or 9 fraction digits. */
  TimeText(int digits) {
    this.unit = Unit.ofDigits(digits);
  }

  @Override
  boolean accepts(Form form, boolean exactly) {
    return form == Form.STRING || form == Form.FIELD;
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    iso.begin(text, from, to);
    if (!iso.skipTime() || !iso.isEnd()) {
      return isNot();
    }
    if (unit.isCoarserThan(iso)) {
      return unit.tooFine();
    }
    out.putLong(iso.secondOfDay() * unit.perSecond() + iso.nanos() / unit.nanos());
    return null;
  }

  @Override
  String name() {
    return "a time such as 12:34:56.789";
  }

  /** The unit of a time. */
  record Unit(String name, long perSecond, int nanos) {
    /** Returns the unit with 3, 6 or 9 fraction digits. */
    static Unit ofDigits(int digits) {
      return switch (digits) {
        case 3 -> new Unit("milliseconds", 1_000, 1_000_000);
        case 6 -> new Unit("microseconds", 1_000_000, 1_000);
        default -> new Unit("nanoseconds", 1_000_000_000, 1);
      };
    }

    boolean isCoarserThan(IsoScanner iso) {
      return iso.isFiner() || iso.nanos() % nanos != 0;
    }

    String tooFine() {
      return "is finer than " + name;
    }
  }
}
