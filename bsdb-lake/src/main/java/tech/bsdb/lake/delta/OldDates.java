package tech.bsdb.lake.delta;

/**
 * Notes whether dates or timestamps were read that files of old versions of Spark and Hive count in
 * another calendar.
 */
final class OldDates {
  /** 1582-10-15, from which on days are the same in both calendars. */
  private static final int FIRST_SAME_DAY = -141_427;

  /** 1900-01-01 in UTC, since when times are the same in both. */
  private static final long FIRST_SAME_MICROS = -2_208_988_800_000_000L;

  private boolean seen;

  int day(int day) {
    seen |= day < FIRST_SAME_DAY;
    return day;
  }

  long micros(long micros) {
    seen |= micros < FIRST_SAME_MICROS;
    return micros;
  }

  /** Whether there were any since it was asked last. */
  boolean take() {
    boolean taken = seen;
    seen = false;
    return taken;
  }
}
