package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;

@ExtendWith(SeedInFailure.class)
class IsoTextTest {
  private static final long SEED = SeedInFailure.SEED;
  private final byte[] text = new byte[IsoText.LONGEST];

  @Test
  void datesAreThoseOfJavaTimeOverTheWholeRange() {
    for (int day : new int[] {Integer.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE}) {
      checkDate(day);
    }
    for (int year : new int[] {-10000, -401, -1, 0, 1900, 2000, 9999}) {
      int first = (int) LocalDate.of(year, 1, 1).toEpochDay();
      for (int day = first - 2; day < first + 368; day++) {
        checkDate(day);
      }
    }
    Random random = new Random(SEED);
    for (int i = 0; i < 10_000; i++) {
      checkDate(random.nextInt() >> random.nextInt(32));
    }
  }

  private void checkDate(int day) {
    assertThat(shown(IsoText.date(day, text, 0)))
        .as("day %s, -Dbsdb.seed=%s", day, SEED)
        .isEqualTo(LocalDate.ofEpochDay(day).toString());
  }

  @Test
  void timestampsAreThoseOfJavaTimeOverTheWholeRange() {
    Random random = new Random(SEED);
    for (int digits = 3; digits <= 9; digits += 3) {
      for (long number :
          new long[] {
            Long.MIN_VALUE, Long.MIN_VALUE + 1, -1_000, -1, 0, 1, 1_000, 1_000_000, Long.MAX_VALUE
          }) {
        checkTimestamp(number, digits);
      }
      for (int i = 0; i < 10_000; i++) {
        checkTimestamp(random.nextLong() >> random.nextInt(64), digits);
      }
    }
  }

  private void checkTimestamp(long number, int digits) {
    int units = IsoText.units(digits);
    Instant instant =
        Instant.ofEpochSecond(
            Math.floorDiv(number, units), Math.floorMod(number, units) * (1_000_000_000L / units));
    assertThat(shown(IsoText.timestamp(number, digits, text, 0)) + "Z")
        .as("%s, %s digits, -Dbsdb.seed=%s", number, digits, SEED)
        .isEqualTo(DateTimeFormatter.ISO_INSTANT.format(instant));
  }

  @Test
  void timesHaveTheirSecondsAndAsManyDigitsAsTheyNeed() {
    assertThat(shown(IsoText.time(0, 0, 3, text, 0))).isEqualTo("00:00:00");
    assertThat(shown(IsoText.time(45_296, 789, 3, text, 0))).isEqualTo("12:34:56.789");
    assertThat(shown(IsoText.time(45_296, 789_000, 6, text, 0))).isEqualTo("12:34:56.789");
    assertThat(shown(IsoText.time(45_296, 789_010, 6, text, 0))).isEqualTo("12:34:56.789010");
    assertThat(shown(IsoText.time(45_296, 1, 9, text, 0))).isEqualTo("12:34:56.000000001");
    assertThat(shown(IsoText.time(86_400, 0, 9, text, 0))).isEqualTo("24:00:00");
    Random random = new Random(SEED);
    for (int i = 0; i < 5_000; i++) {
      long nanos = (long) (random.nextDouble() * 86_400e9);
      int second = (int) (nanos / 1_000_000_000);
      int fraction = (int) (nanos % 1_000_000_000);
      assertThat(LocalTime.parse(shown(IsoText.time(second, fraction, 9, text, 0))))
          .isEqualTo(LocalTime.ofNanoOfDay(nanos));
    }
  }

  private String shown(int length) {
    return new String(text, 0, length, US_ASCII);
  }
}
