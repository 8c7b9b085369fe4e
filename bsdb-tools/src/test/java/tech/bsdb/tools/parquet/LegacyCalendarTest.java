package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.input.InputException;

/** Dates and timestamps that older versions of Spark have written are those that were meant. */
class LegacyCalendarTest {
  private static final String SPARK = "org.apache.spark.";
  private static final long DAY_MICROS = 86_400_000_000L;

  @TempDir Path folder;

  private static LegacyCalendar calendar(String... metadata) throws InputException {
    Map<String, String> all = new HashMap<>();
    for (int i = 0; i < metadata.length; i += 2) {
      all.put(metadata[i], metadata[i + 1]);
    }
    return LegacyCalendar.of("file", all);
  }

  /** The Julian day of a date of the Julian calendar, by the usual formula, as days since 1970. */
  private static long julian(int year, int month, int day) {
    int a = (14 - month) / 12;
    int y = year + 4800 - a;
    int m = month + 12 * a - 3;
    return day + (153 * m + 2) / 5 + 365L * y + y / 4 - 32_083 - 2_440_588;
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, 1, 0001-01-01",
    "1000, 2, 28, 1000-02-28",
    "1000, 2, 29, 1000-03-01",
    "1000, 3, 1, 1000-03-01",
    "1582, 10, 4, 1582-10-04",
    "-4, 3, 1, -0004-03-01"
  })
  void daysAreThoseOfTheirCalendar(int year, int month, int day, String meant) throws Exception {
    LegacyCalendar legacy = calendar(SPARK + "legacyDateTime", "");
    assertThat(LocalDate.ofEpochDay(legacy.day(julian(year, month, day)))).hasToString(meant);
    assertThat(calendar().day(julian(year, month, day))).isEqualTo(julian(year, month, day));
  }

  @Test
  void daysOfBothCalendarsAreUnchanged() throws Exception {
    LegacyCalendar legacy = calendar(SPARK + "version", "2.4.8");
    for (String date : List.of("1582-10-15", "1900-01-01", "1970-01-01", "9999-12-31")) {
      long day = LocalDate.parse(date).toEpochDay();
      assertThat(legacy.day(day)).isEqualTo(day);
    }
    assertThat(legacy.day(LocalDate.parse("1582-10-14").toEpochDay()))
        .as("the day before is the 4th")
        .isEqualTo(LocalDate.parse("1582-10-04").toEpochDay());
  }

  @ParameterizedTest
  @CsvSource({
    "America/Los_Angeles, 1800-01-01T08:00:00Z, 1800-01-01T07:52:58Z",
    "America/Los_Angeles, 1900-01-01T08:00:00Z, 1900-01-01T08:00:00Z",
    "America/Los_Angeles, 1582-10-14T08:00:00Z, 1582-10-04T07:52:58Z",
    "UTC, 1800-01-01T00:00:00Z, 1800-01-01T00:00:00Z",
    "UTC, 0999-12-31T23:59:59.123456Z, 0999-12-26T23:59:59.123456Z",
    "+01:00, 1582-10-14T08:00:00Z, 1582-10-04T08:00:00Z"
  })
  void instantsAreThoseOfTheirPlace(String zone, Instant stored, Instant meant) throws Exception {
    LegacyCalendar legacy = calendar(SPARK + "legacyDateTime", "", SPARK + "timeZone", zone);
    long micros = micros(stored);
    assertThat(legacy.instant(micros, 1_000_000)).isEqualTo(micros(meant));
    assertThat(legacy.instant(micros / 1000 * 1000 / 1000, 1000))
        .isEqualTo(Math.floorDiv(micros(meant), 1000) + (micros % 1000 == 0 ? 0 : 1));
  }

  private static long micros(Instant of) {
    return of.getEpochSecond() * 1_000_000 + of.getNano() / 1000;
  }

  @Test
  void metadataTellsTheCalendar() throws Exception {
    assertThat(calendar(SPARK + "version", "2.4.8").dates()).isTrue();
    assertThat(calendar(SPARK + "version", "3.0.0").dates()).isFalse();
    assertThat(calendar(SPARK + "version", "3.0.3").int96()).isTrue();
    assertThat(calendar(SPARK + "version", "3.1.0").int96()).isFalse();
    assertThat(calendar(SPARK + "version", "3.5.1", SPARK + "legacyINT96", "").int96()).isTrue();
    assertThat(calendar(SPARK + "version", "3.5.1", SPARK + "legacyINT96", "").dates()).isFalse();
    assertThat(calendar(SPARK + "version", "10.0").dates()).isFalse();
    assertThat(calendar(SPARK + "version", "other").dates()).isFalse();
    assertThat(calendar("writer.date.proleptic", "false").dates()).isTrue();
    assertThat(calendar("writer.date.proleptic", "true").dates()).isFalse();
    assertThat(calendar(SPARK + "timeZone", "nowhere").dates()).as("of no use").isFalse();
    assertThatThrownBy(() -> calendar(SPARK + "legacyINT96", "", SPARK + "timeZone", "nowhere"))
        .hasMessage("file: its footer names the time zone \"nowhere\", which is not known");
    assertThatThrownBy(
            () -> calendar(SPARK + "legacyINT96", "").instant(-DAY_MICROS * 99_999, 1_000_000))
        .isInstanceOf(DateTimeException.class);
  }

  private Path file(String name, Map<String, String> metadata, int rows) throws Exception {
    String schema =
        "message rows { required int32 day (DATE); required int64 at (TIMESTAMP(MICROS,true));"
            + " required int96 old; required int64 local (TIMESTAMP(MICROS,false));"
            + " optional group nested { required int32 day (DATE); } }";
    return Written.file(
        folder.resolve(name),
        schema,
        rows,
        (row, number) -> {
          row.add("day", (int) julian(1000, 2, 28));
          row.add("at", micros(Instant.parse("1800-01-01T08:00:00Z")));
          row.add("old", int96("1800-01-01", 8));
          row.add("local", micros(Instant.parse("1800-01-01T08:00:00Z")));
          Group nested = row.addGroup("nested");
          nested.add("day", (int) julian(1, 1, 1));
        },
        writer -> writer.withExtraMetaData(metadata));
  }

  private static Binary int96(String day, int hour) {
    ByteBuffer bytes = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(hour * 3_600_000_000_000L);
    bytes.putInt((int) LocalDate.parse(day).toEpochDay() + 2_440_588);
    return Binary.fromConstantByteArray(bytes.array());
  }

  private CommandRun build(Path file) {
    return CommandRun.bsdb(
        "build-parquet",
        "-i",
        file.toString(),
        "-kf",
        "day",
        "--overwrite",
        "-o",
        folder.resolve("db").toString());
  }

  @Test
  void rowsAndKeysHaveTheDaysThatWereMeant() throws Exception {
    Map<String, String> metadata =
        Map.of(
            SPARK + "version", "3.5.1",
            SPARK + "legacyDateTime", "",
            SPARK + "legacyINT96", "",
            SPARK + "timeZone", "America/Los_Angeles");
    assertThat(build(file("legacy", metadata, 1)).code()).isZero();
    assertThat(scan())
        .containsExactly(
            "{\"key\":\"1000-02-28\",\"value\":{\"day\":\"1000-02-28\",\"at\":\"1800-01-01T07:52:58Z\","
                + "\"old\":\"1800-01-01T07:52:58Z\",\"local\":\"1800-01-01T08:00:00\","
                + "\"nested\":{\"day\":\"0001-01-01\"}}}");
    assertThat(build(file("usual", Map.of(SPARK + "version", "3.5.1"), 1)).code()).isZero();
    assertThat(scan().get(0))
        .startsWith("{\"key\":\"1000-03-05\"")
        .contains("\"at\":\"1800-01-01T08:00:00Z\"");
  }

  private List<String> scan() {
    CommandRun run = CommandRun.bsdb("scan", "--json", "-d", folder.resolve("db").toString());
    assertThat(run.code()).as(run.toString()).isZero();
    return new ArrayList<>(new String(run.outBytes(), UTF_8).lines().toList());
  }

  @Test
  void withoutATimeZoneTimestampsBefore1900AreRefused() throws Exception {
    CommandRun run = build(file("unplaced", Map.of(SPARK + "version", "2.4.8"), 1));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .contains("a timestamp before 1900 in an old calendar")
        .contains("column at: the footer does not name the time zone of its writer");
  }
}
