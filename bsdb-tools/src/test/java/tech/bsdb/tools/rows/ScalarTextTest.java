package tech.bsdb.tools.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.generic.GenericFixed;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;

/** Every type of single values, its edges, and what is none, as JSON and as CSV. */
@ExtendWith(SeedInFailure.class)
final class ScalarTextTest {
  private static final long SEED = SeedInFailure.SEED;

  private static final Map<String, RowSchema> SCHEMAS = new HashMap<>();
  private static final Map<String, JsonRows> JSON = new HashMap<>();
  private static final Map<String, CsvRows> CSV = new HashMap<>();

  private static final String INT = "'int'";
  private static final String LONG = "'long'";
  private static final String DATE = "{'type':'int','logicalType':'date'}";
  private static final String TIME_MILLIS = "{'type':'int','logicalType':'time-millis'}";
  private static final String TIME_MICROS = "{'type':'long','logicalType':'time-micros'}";
  private static final String TIME_NANOS = "{'type':'long','logicalType':'time-nanos'}";
  private static final String BIG_DECIMAL = "{'type':'bytes','logicalType':'big-decimal'}";
  private static final String ENUM = "{'type':'enum','name':'E','symbols':['A','Bb']}";
  private static final String FIXED = "{'type':'fixed','name':'F','size':2}";
  private static final String UUID_FIXED =
      "{'type':'fixed','name':'U','size':16,'logicalType':'uuid'}";
  private static final String UUID_STRING = "{'type':'string','logicalType':'uuid'}";
  private static final String DURATION =
      "{'type':'fixed','name':'D','size':12,'logicalType':'duration'}";

  @Test
  void booleans() {
    assertJson("'boolean'", "true", true);
    assertJson("'boolean'", "false", false);
    assertCsv("'boolean'", "true", true);
    assertCsv("'boolean'", "false", false);
    for (String bad : new String[] {"1", "0", "\"true\"", "null"}) {
      assertBadJson("'boolean'", bad, bad + " is not true or false");
    }
    for (String bad : new String[] {"1", "0", "TRUE", "t", "", "true "}) {
      assertBadCsv("'boolean'", bad, "\"" + bad + "\" is not true or false");
    }
  }

  @Test
  void integers() {
    for (String good : new String[] {"0", "-1", "63", "-2147483648", "2147483647"}) {
      assertBoth(INT, good, Integer.parseInt(good));
      assertBoth(LONG, good, Long.parseLong(good));
    }
    for (long good :
        new long[] {Long.MIN_VALUE, Long.MAX_VALUE, (1L << 53) + 1, 999999999999999999L}) {
      assertBoth(LONG, Long.toString(good), good);
      assertJson(LONG, "\"" + good + "\"", good);
    }
    assertBoth(INT, "-0", 0);
    assertBoth(INT, "1.0", 1);
    assertBoth(INT, "12e2", 1200);
    assertBoth(INT, "1200e-2", 12);
    assertBoth(LONG, "0e999999999999999999999", 0L);
    assertBoth(LONG, "9223372036854775807.000", Long.MAX_VALUE);
    for (String beyond :
        new String[] {"2147483648", "-2147483649", "1e10", "1e999999999", "9".repeat(5000)}) {
      assertThatThrownBy(() -> json(INT, beyond)).hasMessageEndingWith("the range of an int");
    }
    assertBadJson(INT, "2147483648", "2147483648 is beyond the range of an int");
    assertBadCsv(INT, "2147483648", "\"2147483648\" is beyond the range of an int");
    assertBadJson(LONG, "9223372036854775808", "9223372036854775808 is beyond the range of a long");
    assertBadJson(
        LONG, "-9223372036854775809", "-9223372036854775809 is beyond the range of a long");
    assertBadJson(INT, "1.5", "1.5 is not an int");
    assertBadJson(INT, "1e-400000000", "1e-400000000 is not an int");
    assertBadJson(INT, "true", "true is not an int");
    assertBadJson(INT, "null", "null is not an int");
    assertBadJson(INT, "[1]", "a list is not an int");
    assertBadJson(INT, "{}", "an object is not an int");
    for (String bad :
        new String[] {
          "", " 1", "1 ", "+1", "01", "1_000", "0x1", "abc", "-", "1.", ".5", "1e", "١"
        }) {
      assertBadCsv(LONG, bad, "\"" + bad + "\" is not a long");
      assertBadJson(LONG, "\"" + bad + "\"", "\"" + bad + "\" is not a long");
    }
  }

  @Test
  void floatingPointNumbersAreTheNearest() {
    Random random = new Random(SEED);
    for (int i = 0; i < 500; i++) {
      double value = Double.longBitsToDouble(random.nextLong());
      if (Double.isFinite(value)) {
        assertBoth("'double'", Double.toString(value), value);
        assertBoth("'double'", new BigDecimal(value).toString(), value);
      }
      float small = Float.intBitsToFloat(random.nextInt());
      if (Float.isFinite(small)) {
        assertBoth("'float'", Float.toString(small), small);
        assertBoth("'float'", new BigDecimal(small).toPlainString(), small);
      }
    }
    for (String good :
        new String[] {"0", "-0.0", "-0", "1e-400", "4.9e-324", "9007199254740993.0"}) {
      assertBoth("'double'", good, Double.parseDouble(good));
    }
    assertBoth("'float'", "16777217.0", 16777216f);
    for (String word : new String[] {"NaN", "Infinity", "-Infinity"}) {
      assertJson("'double'", "\"" + word + "\"", Double.parseDouble(word));
      assertJson("'float'", "\"" + word + "\"", Float.parseFloat(word));
      assertCsv("'double'", word, Double.parseDouble(word));
    }
    assertBadJson("'double'", "1e309", "1e309 is beyond the range of a double");
    assertBadJson("'float'", "-3.5e38", "-3.5e38 is beyond the range of a float");
    assertBadJson("'double'", "\"1.5\"", "\"1.5\" is not a double");
    assertBadJson("'double'", "\"+Infinity\"", "\"+Infinity\" is not a double");
    for (String bad :
        new String[] {"", "abc", "1d", "0x1p3", "+1", "nan", "INF", "1.", " 1", "1,5"}) {
      assertBadCsv("'double'", bad, "\"" + bad + "\" is not a double");
    }
  }

  @Test
  void wholeNumbersAreNotRounded() {
    for (String good :
        new String[] {
          "9007199254740992", "-9007199254740994", "1152921504606846976", "1" + "0".repeat(22)
        }) {
      assertBoth("'double'", good, Double.parseDouble(good));
    }
    for (String shortest : new String[] {"1152921504606847000", "1" + "0".repeat(23)}) {
      assertBoth("'double'", shortest, Double.parseDouble(shortest));
    }
    assertBoth("'float'", "16777218", 16777218f);
    assertBoth("'float'", "123456790", 123456792f);
    for (String bad :
        new String[] {"9007199254740993", "-9007199254740993", "1152921504606846977"}) {
      assertBadJson("'double'", bad, bad + " does not fit exactly in a double");
      assertBadCsv("'double'", bad, "\"" + bad + "\" does not fit exactly in a double");
    }
    assertBadJson("'float'", "16777217", "16777217 does not fit exactly in a float");
    assertBadJson(
        "['null','double']",
        "9007199254740993",
        "9007199254740993 does not fit exactly in a double");
    assertJson("['double','long']", "9007199254740993", 9007199254740993L);
  }

  @Test
  void decimalsAreNeverRounded() {
    Random random = new Random(SEED);
    for (int i = 0; i < 500; i++) {
      int precision = 1 + random.nextInt(45);
      int scale = random.nextInt(precision + 1);
      BigInteger unscaled = new BigInteger(random.nextInt(precision * 3 + 1), random);
      unscaled = random.nextBoolean() ? unscaled.negate() : unscaled;
      BigDecimal value = new BigDecimal(unscaled, scale);
      String type = decimal(precision, scale);
      int size = 1 + precision / 2;
      String fixed =
          "{'type':'fixed','name':'F','size':"
              + size
              + ",'logicalType':'decimal','precision':"
              + precision
              + ",'scale':"
              + scale
              + "}";
      for (String text :
          new String[] {
            value.toPlainString(),
            value.toString(),
            value.stripTrailingZeros().toString(),
            value.toPlainString() + (scale == 0 ? "" : "00")
          }) {
        if (value.precision() > precision && unscaled.signum() != 0) {
          assertBadJson(
              type, text, text + " does not fit decimal(" + precision + "," + scale + ")");
        } else {
          assertBoth(type, text, ByteBuffer.wrap(unscaled.toByteArray()));
          assertJson(type, "\"" + text + "\"", ByteBuffer.wrap(unscaled.toByteArray()));
          GenericFixed read = (GenericFixed) json(fixed, text);
          assertThat(new BigInteger(read.bytes())).isEqualTo(unscaled);
        }
      }
    }
    String type = decimal(4, 2);
    assertBoth(type, "1.5", ByteBuffer.wrap(new byte[] {0, (byte) 150}));
    assertBoth(type, "-99.99", ByteBuffer.wrap(BigInteger.valueOf(-9999).toByteArray()));
    assertBoth(type, "-0", ByteBuffer.wrap(new byte[] {0}));
    assertBoth(type, "0e-99999999999", ByteBuffer.wrap(new byte[] {0}));
    assertBoth(decimal(20, 0), "18446744073709551615", unscaled("18446744073709551615"));
    for (String bad :
        new String[] {"1.505", "100", "1e2", "0.001", "1e999999999", "1e-999999999"}) {
      assertBadJson(type, bad, bad + " does not fit decimal(4,2)");
      assertBadCsv(type, bad, "\"" + bad + "\" does not fit decimal(4,2)");
    }
    for (String bad : new String[] {"", "abc", "1,50", "+1", "01", "NaN", "$1"}) {
      assertBadCsv(type, bad, "\"" + bad + "\" is not a decimal(4,2)");
    }
    assertBadJson(type, "true", "true is not a decimal(4,2)");
  }

  @Test
  void bigDecimalsKeepTheirDigits() {
    ByteBuffer expected = ByteBuffer.wrap(HexFormat.of().parseHex("04009604")); // 150, scale 2
    assertBoth(BIG_DECIMAL, "1.50", expected);
    assertJson(BIG_DECIMAL, "\"1.50\"", expected);
    assertBadCsv(BIG_DECIMAL, "x", "\"x\" is not a decimal number");
    assertBadJson(BIG_DECIMAL, "1e20000", "1e20000 has more than 10000 digits");
  }

  @Test
  void datesAreThoseOfTheCalendar() {
    Random random = new Random(SEED);
    for (int i = 0; i < 1000; i++) {
      int day = i % 2 == 0 ? random.nextInt() : random.nextInt(200_000) - 100_000;
      assertText(DATE, LocalDate.ofEpochDay(day).toString(), day);
    }
    for (String edge :
        new String[] {
          "0000-01-01",
          "0000-02-29",
          "-0001-12-31",
          "9999-12-31",
          "+10000-01-01",
          "1900-02-28",
          "2000-02-29",
          "+5881580-07-11",
          "-5877641-06-23"
        }) {
      assertText(DATE, edge, (int) LocalDate.parse(edge).toEpochDay());
    }
    for (String bad :
        new String[] {
          "",
          "2024-1-1",
          "2024-02-30",
          "1900-02-29",
          "2024-13-01",
          "2024-00-01",
          "2024-01-00",
          "20240101",
          "2024-01-01T00:00",
          "24-01-01",
          "+2024-01-01",
          "10000-01-01",
          "-0000-01-01",
          "2024-01",
          "2024/01/01",
          " 2024-01-01",
          "+010000-01-01",
          "+1000000000-01-01"
        }) {
      assertBadText(DATE, bad, "is not a date such as 2024-01-31");
    }
    assertBadText(DATE, "+5881580-07-12", "is beyond the range of a date");
    assertBadText(DATE, "-5877641-06-22", "is beyond the range of a date");
    assertBadJson(DATE, "19000", "19000 is not a date such as 2024-01-31");
  }

  @Test
  void timesKeepTheirUnit() {
    Random random = new Random(SEED);
    for (int i = 0; i < 500; i++) {
      long nanos = (long) (random.nextDouble() * 86_400_000_000_000L);
      assertText(TIME_NANOS, LocalTime.ofNanoOfDay(nanos).toString(), nanos);
      long micros = nanos / 1_000;
      assertText(TIME_MICROS, LocalTime.ofNanoOfDay(micros * 1_000).toString(), micros);
      int millis = (int) (nanos / 1_000_000);
      assertText(TIME_MILLIS, LocalTime.ofNanoOfDay(millis * 1_000_000L).toString(), millis);
    }
    assertText(TIME_MILLIS, "12:34:56.7", 45_296_700);
    assertText(TIME_MILLIS, "12:34:56.789000000000", 45_296_789);
    assertText(TIME_MILLIS, "00:00", 0);
    assertText(TIME_NANOS, "23:59:59.999999999", 86_399_999_999_999L);
    assertBadText(TIME_MILLIS, "12:34:56.7891", "is finer than milliseconds");
    assertBadText(TIME_MICROS, "12:34:56.7891234", "is finer than microseconds");
    assertBadText(TIME_NANOS, "12:34:56.7891234561", "is finer than nanoseconds");
    for (String bad :
        new String[] {
          "",
          "24:01",
          "12",
          "12:60",
          "12:34:60",
          "12:34:56.",
          "1:02:03",
          "12:34:56Z",
          "12.34",
          "-1:00",
          "12:3"
        }) {
      assertBadText(TIME_MILLIS, bad, "is not a time such as 12:34:56.789");
    }
  }

  @Test
  void timestampsAreExactOverAllOfTheirRange() {
    Random random = new Random(SEED);
    for (int digits : new int[] {3, 6, 9}) {
      long perSecond = (long) Math.pow(10, digits);
      for (int i = 0; i < 500; i++) {
        long units =
            switch (i) {
              case 0 -> Long.MIN_VALUE;
              case 1 -> Long.MAX_VALUE;
              case 2 -> -1;
              default -> random.nextLong() >> random.nextInt(64);
            };
        int nanos = (int) (Math.floorMod(units, perSecond) * (1_000_000_000 / perSecond));
        LocalDateTime local =
            LocalDateTime.ofEpochSecond(Math.floorDiv(units, perSecond), nanos, ZoneOffset.UTC);
        assertText(timestamp("local-timestamp", digits), local.toString(), units);
        assertText(timestamp("timestamp", digits), local + "Z", units);
        ZoneOffset offset = ZoneOffset.ofTotalSeconds(60 * (random.nextInt(36 * 60) - 18 * 60));
        if (i > 2) {
          String there =
              DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(
                  OffsetDateTime.of(local, ZoneOffset.UTC).withOffsetSameInstant(offset));
          assertText(timestamp("timestamp", digits), there, units);
        }
      }
    }
    String millis = timestamp("timestamp", 3);
    assertText(millis, "1970-01-01 00:00Z", 0L);
    assertText(millis, "1970-01-01T01:00+01", 0L);
    assertText(millis, "1969-12-31T22:30:00.001-0130", 1L);
    String name = "is not a timestamp with an offset such as 2024-01-31T12:34:56.789Z";
    for (String bad :
        new String[] {
          "",
          "2024-01-31",
          "2024-01-31T12:34:56",
          "2024-01-31T12:34:56z",
          "2024-01-31T12:34:56Z ",
          "2024-01-31t12:34Z",
          "2024-01-31T12:34+1",
          "2024-01-31T12:34+01:",
          "2024-01-31T12:34+24",
          "2024-01-31T12:34+01:60",
          "2024-01-31T12:34 Z",
          "2024-01-31  12:34Z",
          "0"
        }) {
      assertBadText(millis, bad, name);
    }
    assertBadText(millis, "2024-01-31T12:34:56.0001Z", "is finer than milliseconds");
    assertBadText(
        timestamp("local-timestamp", 3),
        "2024-01-31T12:34:56Z",
        "is not a local timestamp such as 2024-01-31T12:34:56.789");
    assertBadText(
        timestamp("timestamp", 9),
        "2262-04-11T23:47:16.854775808Z",
        "is beyond the range of nanoseconds since 1970");
    assertBadText(
        timestamp("timestamp", 9),
        "1677-09-21T00:12:43.145224191Z",
        "is beyond the range of nanoseconds since 1970");
    assertBadText(
        timestamp("timestamp", 9),
        "+999999999-01-01T00:00Z",
        "is beyond the range of nanoseconds since 1970");
  }

  @Test
  void stringsAreAsTheyAre() {
    for (String text : new String[] {"", "abc", "é", "漢字", "\uD83D\uDE00x", " x ", "true", "1"}) {
      assertText("'string'", text, text);
    }
    assertJson("'string'", "\"\\u00e9\\n\\u0000\\ud83d\\ude00\"", "é\n\0\uD83D\uDE00");
    assertBadJson("'string'", "\"a\\ud83d\"", "\"a\\uD83D\" has a lone surrogate");
    assertBadJson("'string'", "\"\\ude00b\"", "\"\\uDE00b\" has a lone surrogate");
    assertBadJson("'string'", "1", "1 is not a string");
    assertBadJson("'string'", "null", "null is not a string");
    assertText("'string'", "x".repeat(100_000), "x".repeat(100_000));
  }

  @Test
  void enumerationsAndUuids() {
    assertThat(String.valueOf(json(ENUM, "\"Bb\""))).isEqualTo("Bb");
    assertThat(String.valueOf(csv(ENUM, "A"))).isEqualTo("A");
    assertBadText(ENUM, "b", "is not one of A, Bb");
    assertBadText(ENUM, "", "is not one of A, Bb");
    String uuid = new UUID(new Random(SEED).nextLong(), 7).toString();
    String hex = uuid.replace("-", "");
    assertThat(((GenericFixed) json(UUID_FIXED, "\"" + uuid + "\"")).bytes())
        .isEqualTo(HexFormat.of().parseHex(hex));
    assertThat(((GenericFixed) csv(UUID_FIXED, uuid.toUpperCase(java.util.Locale.ROOT))).bytes())
        .isEqualTo(HexFormat.of().parseHex(hex));
    assertText(UUID_STRING, uuid, uuid);
    for (String bad :
        new String[] {"", hex, uuid.substring(1), uuid.replace('-', '0'), "{" + uuid}) {
      assertBadText(UUID_FIXED, bad, "is not a UUID");
      assertBadText(UUID_STRING, bad, "is not a UUID");
    }
  }

  @Test
  void bytesAreBase64() {
    Random random = new Random(SEED);
    for (int size = 0; size < 100; size++) {
      byte[] bytes = new byte[size];
      random.nextBytes(bytes);
      assertText(
          "'bytes'", java.util.Base64.getEncoder().encodeToString(bytes), ByteBuffer.wrap(bytes));
      assertText(
          "'bytes'",
          java.util.Base64.getEncoder().withoutPadding().encodeToString(bytes),
          ByteBuffer.wrap(bytes));
    }
    for (String bad :
        new String[] {
          "A", "A===", "AA=", "AB==", "AAB=", "A-A=", "AA==AAAA", "AAA\u00e9", "AAAA=", "=="
        }) {
      assertBadText("'bytes'", bad, "is not base64");
    }
    assertThat(((GenericFixed) json(FIXED, "\"AAE=\"")).bytes()).containsExactly(0, 1);
    assertBadText(FIXED, "AA==", "is base64 of 1 bytes, not of 2");
    assertBadText(FIXED, "", "is base64 of 0 bytes, not of 2");
    assertBadText(FIXED, "A!E=", "is not base64 of 2 bytes");
  }

  @Test
  void durationsAreMonthsDaysAndMilliseconds() {
    assertDuration("P1M2DT3.004S", 1, 2, 3004);
    assertDuration("P1Y2M3W4DT5H6M7.89S", 14, 25, 18_367_890);
    assertDuration("PT0S", 0, 0, 0);
    assertDuration("P0D", 0, 0, 0);
    assertDuration("PT1M", 0, 0, 60_000);
    assertDuration("P4294967295M4294967295DT4294967.295S", -1, -1, -1);
    for (String bad :
        new String[] {
          "", "P", "PT", "P1", "1D", "P1DT", "P-1D", "-P1D", "P1.5D", "PT1.5M", "P1D1M", "PT1S1M",
          "PT.5S", "PT1.S", "P1H", "PT1D", "P1M1M", "p1d", "PT1ST1S", "PTT1S"
        }) {
      assertBadText(DURATION, bad, "is not a duration such as P1M2DT3.004S");
    }
    assertBadText(DURATION, "PT0.0001S", "is finer than milliseconds");
    for (String beyond :
        new String[] {"P4294967296D", "PT4294967.296S", "P357913942Y", "P99999999999999999999D"}) {
      assertBadText(DURATION, beyond, "is beyond 4294967295 months, days or milliseconds");
    }
  }

  @Test
  void whatIsShownStaysShortAndOnOneLine() {
    assertBadJson(
        INT, "\"" + "x".repeat(100) + "\"", "\"" + "x".repeat(60) + "...\" is not an int");
    assertBadJson(INT, "\"a\\nb\\u0007\\u2028\"", "\"a\\nb\\u0007\\u2028\" is not an int");
    assertBadCsv(INT, "a\r\n\t", "\"a\\r\\n\\t\" is not an int");
    assertBadJson(DATE, "1".repeat(80), "1".repeat(60) + "... is not a date such as 2024-01-31");
  }

  private static void assertDuration(String text, int months, int days, int millis) {
    byte[] expected =
        ByteBuffer.allocate(12)
            .order(java.nio.ByteOrder.LITTLE_ENDIAN)
            .putInt(months)
            .putInt(days)
            .putInt(millis)
            .array();
    assertThat(((GenericFixed) json(DURATION, "\"" + text + "\"")).bytes()).isEqualTo(expected);
    assertThat(((GenericFixed) csv(DURATION, text)).bytes()).isEqualTo(expected);
  }

  private static ByteBuffer unscaled(String number) {
    return ByteBuffer.wrap(new BigInteger(number).toByteArray());
  }

  private static String decimal(int precision, int scale) {
    return "{'type':'bytes','logicalType':'decimal','precision':"
        + precision
        + ",'scale':"
        + scale
        + "}";
  }

  private static String timestamp(String kind, int digits) {
    String unit = digits == 3 ? "millis" : digits == 6 ? "micros" : "nanos";
    return "{'type':'long','logicalType':'" + kind + "-" + unit + "'}";
  }

  /** The value reads as the text in quotes, and as the field. */
  private static void assertText(String type, String text, Object value) {
    assertJson(type, "\"" + text + "\"", value);
    assertCsv(type, text, value);
  }

  private static void assertBoth(String type, String text, Object value) {
    assertJson(type, text, value);
    assertCsv(type, text, value);
  }

  private static void assertJson(String type, String json, Object value) {
    assertThat(plain(json(type, json))).as("%s, seed %d", json, SEED).isEqualTo(value);
  }

  private static void assertCsv(String type, String field, Object value) {
    assertThat(plain(csv(type, field))).as("%s, seed %d", field, SEED).isEqualTo(value);
  }

  private static Object plain(Object value) {
    return value instanceof CharSequence text ? text.toString() : value;
  }

  private static void assertBadText(String type, String text, String problem) {
    assertBadJson(type, "\"" + text + "\"", "\"" + text + "\" " + problem);
    assertBadCsv(type, text, "\"" + text + "\" " + problem);
  }

  private static void assertBadJson(String type, String json, String problem) {
    assertThatThrownBy(() -> json(type, json)).hasMessage("column \"x\": " + problem);
  }

  private static void assertBadCsv(String type, String field, String problem) {
    assertThatThrownBy(() -> csv(type, field)).hasMessage("column \"x\": " + problem);
  }

  private static Object json(String type, String json) {
    RowSchema schema = SCHEMAS.computeIfAbsent(type, Rows::ofType);
    JsonRows rows = JSON.computeIfAbsent(type, t -> new JsonRows(schema, "no such", false));
    return read(schema, Rows.fromJson(rows, "{\"x\":" + json + "}"));
  }

  private static Object csv(String type, String field) {
    RowSchema schema = SCHEMAS.computeIfAbsent(type, Rows::ofType);
    return read(schema, Rows.fromCsv(CSV.computeIfAbsent(type, t -> new CsvRows(schema)), field));
  }

  private static Object read(RowSchema schema, byte[] row) {
    try {
      @Nullable Object value = Rows.read(schema, row).get("x");
      if (value == null) {
        throw new AssertionError("null");
      }
      return value;
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }
}
