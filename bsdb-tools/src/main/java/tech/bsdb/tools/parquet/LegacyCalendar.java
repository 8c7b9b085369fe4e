package tech.bsdb.tools.parquet;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/**
 * The calendar of a file's dates and timestamps. Older versions of Spark and Hive count days in the
 * Julian calendar until 1582-10-04, and know no local mean times, which most places had until about
 * 1900; the footer says so. Such values are moved to the days and local times that their writer
 * meant, as Spark does when it reads them. Immutable.
 *
 * @param dates whether dates and timestamps of 64 bits are in the old calendar
 * @param int96 whether timestamps of 96 bits are
 * @param zone where the writer was; null if the footer does not say it
 */
public record LegacyCalendar(boolean dates, boolean int96, @Nullable ZoneId zone) {
  private static final LegacyCalendar NONE = new LegacyCalendar(false, false, null);
  private static final String SPARK = "org.apache.spark.";

  /** The first day that is the same in both calendars: 1582-10-15. */
  private static final long FIRST_SAME_DAY = -141_427;

  /** 1900-01-01 in UTC, since when both know the same times. */
  private static final long FIRST_SAME_SECOND = -2_208_988_800L;

  private static final long DAY_MILLIS = 86_400_000;

  /**
   * Returns the calendar of a file.
   *
   * @param metadata keys and values of its footer
   * @throws InputException if they cannot be understood
   */
  public static LegacyCalendar of(String file, Map<String, String> metadata) throws InputException {
    String spark = metadata.get(SPARK + "version");
    boolean hive = "false".equals(metadata.get("writer.date.proleptic"));
    boolean dates =
        hive
            || metadata.containsKey(SPARK + "legacyDateTime")
            || (spark != null && isBefore(spark, 3, 0));
    boolean int96 =
        hive
            || metadata.containsKey(SPARK + "legacyINT96")
            || (spark != null && isBefore(spark, 3, 1));
    if (!dates && !int96) {
      return NONE;
    }
    String zone = metadata.get(SPARK + "timeZone");
    try {
      return new LegacyCalendar(
          dates, int96, zone == null ? null : ZoneId.of(zone, ZoneId.SHORT_IDS));
    } catch (DateTimeException e) {
      throw new InputException(
          file + ": its footer names the time zone \"" + zone + "\", which is not known", e);
    }
  }

  private static boolean isBefore(String version, int major, int minor) {
    String[] parts = version.split("\\D", -1);
    try {
      int first = Integer.parseInt(parts[0]);
      return first < major
          || (first == major && parts.length > 1 && Integer.parseInt(parts[1]) < minor);
    } catch (NumberFormatException other) {
      return false; // it is none of Spark's, whose versions are numbers
    }
  }

  /** Returns the day since 1970-01-01 that a day is in the file. */
  long day(long stored) {
    if (!dates || stored >= FIRST_SAME_DAY) {
      return stored;
    }
    return date(calendar(TimeZone.getTimeZone(ZoneOffset.UTC), stored * DAY_MILLIS)).toEpochDay();
  }

  /**
   * Returns the point in time, in units since 1970, that a stored one means.
   *
   * @param perSecond how many units a second has, at least 1000
   * @throws DateTimeException if the time zone must be known for it, and is not
   */
  long instant(long stored, long perSecond) {
    long second = Math.floorDiv(stored, perSecond);
    if (second >= FIRST_SAME_SECOND) {
      return stored;
    }
    ZoneId place = zone;
    if (place == null) {
      throw new DateTimeException("the footer does not name the time zone of its writer");
    }
    GregorianCalendar old = calendar(TimeZone.getTimeZone(place), second * 1000);
    LocalDateTime local =
        LocalDateTime.of(
            date(old),
            LocalTime.of(
                old.get(Calendar.HOUR_OF_DAY), old.get(Calendar.MINUTE), old.get(Calendar.SECOND)));
    ZonedDateTime meant = local.atZone(place);
    int offset = (old.get(Calendar.ZONE_OFFSET) + old.get(Calendar.DST_OFFSET)) / 1000;
    ZonedDateTime later = meant.withLaterOffsetAtOverlap();
    if (later.getOffset().getTotalSeconds() == offset) {
      meant = later;
    }
    return Math.addExact(stored, Math.multiplyExact(meant.toEpochSecond() - second, perSecond));
  }

  /** Returns a calendar that is Julian until 1582-10-04, whatever calendar is usual here. */
  private static GregorianCalendar calendar(TimeZone zone, long millis) {
    GregorianCalendar calendar = new GregorianCalendar(zone, Locale.ROOT);
    calendar.setTimeInMillis(millis);
    return calendar;
  }

  /** Returns the date of a calendar; February 29 of a year without one is March 1. */
  private static LocalDate date(GregorianCalendar calendar) {
    int year = calendar.get(Calendar.YEAR);
    return LocalDate.of(
            calendar.get(Calendar.ERA) == GregorianCalendar.AD ? year : 1 - year,
            calendar.get(Calendar.MONTH) + 1,
            1)
        .plusDays(calendar.get(Calendar.DAY_OF_MONTH) - 1L);
  }
}
