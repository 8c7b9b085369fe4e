package tech.bsdb.tools.where;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.Scalar;

class WhereTest {
  private static final Map<String, RowType> TYPES = new LinkedHashMap<>();

  static {
    TYPES.put("t", Scalar.of(Kind.BOOLEAN));
    TYPES.put("i", Scalar.of(Kind.INT));
    TYPES.put("l", Scalar.of(Kind.LONG));
    TYPES.put("f", Scalar.of(Kind.FLOAT));
    TYPES.put("d", Scalar.of(Kind.DOUBLE));
    TYPES.put("n", Scalar.decimal(30, 2));
    TYPES.put("s", Scalar.of(Kind.STRING));
    TYPES.put("b", Scalar.of(Kind.BYTES));
    TYPES.put("x", Scalar.fixed(2));
    TYPES.put("u", Scalar.of(Kind.UUID));
    TYPES.put("day", Scalar.of(Kind.DATE));
    TYPES.put("time", Scalar.time(Kind.TIME, 6));
    TYPES.put("at", Scalar.time(Kind.TIMESTAMP, 3));
    TYPES.put("nanos", Scalar.time(Kind.TIMESTAMP, 9));
    TYPES.put("local", Scalar.time(Kind.LOCAL_TIMESTAMP, 6));
    TYPES.put("list", new ListOf(new Column("", Scalar.of(Kind.INT), false)));
    TYPES.put("span", Scalar.of(Kind.INTERVAL));
    TYPES.put("nothing", Scalar.of(Kind.NULL));
  }

  private static Verdict verdict(String condition, Map<String, @Nullable Object> row)
      throws ConditionException {
    Where where = Where.parse(condition);
    List<Column> columns = new ArrayList<>();
    List<RowBuffer> values = new ArrayList<>();
    for (ColumnName name : where.columns()) {
      RowType type = TYPES.get(name.text());
      assertThat(type).as(name.text()).isNotNull();
      columns.add(new Column(name.text(), type, true));
      Object value = row.get(name.text());
      values.add(
          !row.containsKey(name.text())
              ? Cells.UNKNOWN
              : value == null ? Cells.NULL : encoded((Scalar) type, value));
    }
    return where.bind(columns).of(values::get);
  }

  private static RowBuffer encoded(Scalar type, Object value) {
    RowBuffer out = new RowBuffer();
    switch (type.kind()) {
      case BOOLEAN -> out.put((boolean) value ? 1 : 0);
      case FLOAT -> out.putFloat(((Number) value).floatValue());
      case DOUBLE -> out.putDouble(((Number) value).doubleValue());
      case DECIMAL -> {
        BigInteger unscaled =
            new BigDecimal((String) value).setScale(type.second()).unscaledValue();
        out.putBytes(unscaled.toByteArray(), 0, unscaled.toByteArray().length);
      }
      case STRING -> {
        byte[] text = ((String) value).getBytes(UTF_8);
        out.putBytes(text, 0, text.length);
      }
      case BYTES -> out.putBytes((byte[]) value, 0, ((byte[]) value).length);
      case FIXED -> out.put((byte[]) value);
      case UUID -> out.put(HexFormat.of().parseHex(((String) value).replace("-", "")));
      default -> out.putLong(((Number) value).longValue());
    }
    return out;
  }

  private static boolean test(String condition, String column, @Nullable Object value)
      throws ConditionException {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put(column, value);
    Verdict verdict = verdict(condition, row);
    assertThat(verdict).isNotEqualTo(Verdict.MAYBE);
    return verdict == Verdict.YES;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "i = 5                             | 5    | true",
        "i == 5                            | 6    | false",
        "5 < i                             | 6    | true",
        "5 < i                             | 5    | false",
        "5 <= i                            | 5    | true",
        "5 >= i                            | 6    | false",
        "i != 5                            | 5    | false",
        "i <> 5 and not i = 6              | 6    | false",
        "i <> 5 and not i = 6              | 7    | true",
        "i between 2 and 4                 | 4    | true",
        "i BETWEEN 2 AND 4                 | 5    | false",
        "i not between 2 and 4 or i = 3    | 3    | true",
        "i not between 2 and 4             | 2    | false",
        "i in (3, 1, 2)                    | 2    | true",
        "i in (3, 1, 2.5)                  | 2    | false",
        "i not in (3, 1)                   | 2    | true",
        "NOT (i IN (3, 1))                 | 3    | false",
        "i > -1                            | 0    | true",
        "i < - 1.5                         | -2   | true",
        "i >= 1.5                          | 1    | false",
        "i >= 1.5                          | 2    | true",
        "i = 1.0                           | 1    | true",
        "i < 1e3                           | 999  | true",
        "i < 99999999999999999999          | 1    | true",
        "i > -99999999999999999999          | 1    | true",
        "i is null                         | 1    | false",
        "i is not null                     | 1    | true",
        "not i is null                     | 1    | true",
        "TRUE                              | 1    | true",
        "false or i = 1                    | 1    | true",
        "not (i = 1 or i = 2) and i < 9    | 3    | true",
        "i = 1 or i = 2 and i = 3          | 1    | true",
        "(i = 1 or i = 2) and i = 3        | 1    | false",
        "((i)) = 1                         | 1    | error",
        "\"i\" = 1 and `i` = 1             | 1    | true",
      })
  void conditionsOnIntegers(String condition, int value, String expected)
      throws ConditionException {
    if (expected.equals("error")) {
      assertThatThrownBy(() -> test(condition, "i", value)).isInstanceOf(ConditionException.class);
    } else {
      assertThat(test(condition, "i", value)).isEqualTo(Boolean.parseBoolean(expected));
    }
  }

  @Test
  void longsAndDecimalsAreComparedExactly() throws ConditionException {
    assertThat(test("l = 9007199254740993", "l", 9007199254740993L)).isTrue();
    assertThat(test("l = 9007199254740993", "l", 9007199254740992L)).isFalse();
    assertThat(test("l > 9223372036854775806.5", "l", Long.MAX_VALUE)).isTrue();
    assertThat(test("l < 9223372036854775807.5", "l", Long.MAX_VALUE)).isTrue();
    assertThat(test("l >= 9223372036854775808", "l", Long.MAX_VALUE)).isFalse();
    assertThat(test("l <= -9223372036854775809", "l", Long.MIN_VALUE)).isFalse();
    assertThat(test("l > -9223372036854775809", "l", Long.MIN_VALUE)).isTrue();
    assertThat(test("l = -9223372036854775808", "l", Long.MIN_VALUE)).isTrue();
    assertThat(test("l < -0.5", "l", -1L)).isTrue();
    assertThat(test("l < -0.5", "l", 0L)).isFalse();
    assertThat(test("n = 1.5", "n", "1.50")).isTrue();
    assertThat(test("n = 1.505", "n", "1.50")).isFalse();
    assertThat(test("n < 1.505", "n", "1.50")).isTrue();
    assertThat(test("n > 1.495", "n", "1.50")).isTrue();
    assertThat(test("n < -1.495", "n", "-1.50")).isTrue();
    assertThat(test("n = 1234567890123456789012345.67", "n", "1234567890123456789012345.67"))
        .isTrue();
    assertThat(test("n > 1234567890123456789012345.665", "n", "1234567890123456789012345.66"))
        .isFalse();
    assertThat(test("n in (7, 1234567890123456789012345.67, 1.234)", "n", "7.00")).isTrue();
    assertThat(test("n in (1.504, 1.506)", "n", "1.50")).isFalse();
  }

  @Test
  void floatingPointNumbersHaveOneNaNAboveAllOthersAndOneZero() throws ConditionException {
    for (String column : List.of("f", "d")) {
      assertThat(test(column + " = 0", column, -0.0)).isTrue();
      assertThat(test(column + " < 0", column, -0.0)).isFalse();
      assertThat(test(column + " > 1e30", column, Double.NaN)).isTrue();
      assertThat(test(column + " > 'Infinity'", column, Double.NaN)).isTrue();
      assertThat(test(column + " = 'NaN'", column, Double.NaN)).isTrue();
      assertThat(test(column + " <> 'NaN'", column, 1)).isTrue();
      assertThat(test(column + " < 'NaN'", column, Double.POSITIVE_INFINITY)).isTrue();
      assertThat(test(column + " in (1, 'NaN', -0.0)", column, Double.NaN)).isTrue();
      assertThat(test(column + " in (1, 'NaN', -0.0)", column, 0.0)).isTrue();
      assertThat(test(column + " = '-Infinity'", column, Double.NEGATIVE_INFINITY)).isTrue();
    }
    assertThat(test("f = 0.1", "f", 0.1f)).isTrue();
    assertThat(test("d = 0.1", "d", 0.1)).isTrue();
    assertThat(test("d = 0.1", "d", (double) 0.1f)).isFalse();
  }

  @Test
  void textIsComparedByItsBytes() throws ConditionException {
    assertThat(test("s = 'it''s'", "s", "it's")).isTrue();
    assertThat(test("s < '\uFF5E'", "s", "\uD83D\uDE00")).isFalse(); // UTF-16 says otherwise
    assertThat(test("s >= 'é'", "s", "z")).isFalse();
    assertThat(test("s < 'ab'", "s", "a")).isTrue();
    assertThat(test("s in ('b', 'a', 'é')", "s", "é")).isTrue();
    assertThat(test("s = ''", "s", "")).isTrue();
    assertThat(test("b = X'00ff'", "b", new byte[] {0, -1})).isTrue();
    assertThat(test("b > x'7F'", "b", new byte[] {-1})).isTrue();
    assertThat(test("x = X'0102'", "x", new byte[] {1, 2})).isTrue();
    String uuid = "00112233-4455-6677-8899-aabbccddeeff";
    assertThat(test("u = '00112233-4455-6677-8899-AABBCCDDEEFF'", "u", uuid)).isTrue();
    assertThat(test("u < '80000000-0000-0000-0000-000000000000'", "u", uuid)).isTrue();
  }

  @Test
  void timesAreComparedInAnyUnit() throws ConditionException {
    assertThat(test("day >= DATE '2026-01-01'", "day", 20454)).isTrue();
    assertThat(test("day >= date '2026-01-01'", "day", 20453)).isFalse();
    assertThat(test("time = TIME '00:00:01.5'", "time", 1_500_000)).isTrue();
    assertThat(test("at = TIMESTAMP '1970-01-01 00:00:01.5Z'", "at", 1500)).isTrue();
    assertThat(test("at = TIMESTAMP '1970-01-01T01:00:01.5+01:00'", "at", 1500)).isTrue();
    assertThat(test("at > TIMESTAMP '1970-01-01 00:00:01.4999999 UTC'", "at", 1500)).isTrue();
    assertThat(test("at < TIMESTAMP '1969-12-31 23:59:59.9999Z'", "at", -1)).isTrue();
    assertThat(test("nanos < TIMESTAMP '9999-12-31 00:00:00Z'", "nanos", Long.MAX_VALUE)).isTrue();
    assertThat(test("nanos = TIMESTAMP '1970-01-01 00:00:00.000000001Z'", "nanos", 1)).isTrue();
    assertThat(test("local = TIMESTAMP '1970-01-01'", "local", 0)).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "abc    | a%      | true",
        "abc    | %c      | true",
        "abc    | %b%     | true",
        "abc    | a_c     | true",
        "abc    | a_      | false",
        "abc    | abc     | true",
        "abc    | ab      | false",
        "abc    | %       | true",
        "abc    | %%_%%   | true",
        "é      | _       | true",
        "é      | __      | false",
        "é      | %_%_%   | false",
        "aé😀b | a__b    | true",
        "a%b    | a!%b    | true",
        "axb    | a!%b    | false",
        "a!b    | a!!b    | true",
        "mississippi | m%iss%ip_i | true",
        "mississippi | m%iss%ss%ss% | false",
        "Abc    | abc     | false",
      })
  void like(String text, String pattern, boolean expected) throws ConditionException {
    String condition = "s LIKE '" + pattern + "' ESCAPE '!'";
    assertThat(test(condition, "s", text)).isEqualTo(expected);
    assertThat(test("NOT " + condition, "s", text)).isEqualTo(!expected);
    assertThat(test(condition, "s", null)).isFalse();
    assertThat(test("NOT " + condition, "s", null)).isFalse();
  }

  /** Compares all conditions of some depth with SQL's tables of three values. */
  @Test
  void theLogicHasThreeValues() throws ConditionException {
    Map<String, @Nullable Boolean> leaves = new LinkedHashMap<>();
    leaves.put("t = TRUE", true);
    leaves.put("t", true);
    leaves.put("NOT t", false);
    leaves.put("i > 1", null);
    leaves.put("i IN (1, 2)", null);
    leaves.put("i NOT IN (1, 2)", null);
    leaves.put("s LIKE '%'", null);
    leaves.put("i IS NULL", true);
    leaves.put("t IS NULL", false);
    leaves.put("nothing = 5", null);
    Map<String, @Nullable Boolean> all = deeper(deeper(leaves));
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("t", true);
    row.put("i", null);
    row.put("s", null);
    row.put("nothing", null);
    assertThat(all).hasSizeGreaterThan(10_000);
    for (Map.Entry<String, @Nullable Boolean> entry : all.entrySet()) {
      Boolean expected = entry.getValue();
      Verdict verdict = verdict(entry.getKey(), row);
      if ((verdict == Verdict.YES) != (expected != null && expected) || verdict == Verdict.MAYBE) {
        assertThat(verdict).as("%s is %s", entry.getKey(), expected).isNull();
      }
    }
  }

  private static Map<String, @Nullable Boolean> deeper(Map<String, @Nullable Boolean> conditions) {
    Map<String, @Nullable Boolean> deeper = new LinkedHashMap<>();
    List<String> some = new ArrayList<>(conditions.keySet());
    int step = Math.max(1, some.size() / 100);
    for (int i = 0; i < some.size(); i += step) {
      for (int j = 0; j < some.size(); j += step) {
        Boolean a = conditions.get(some.get(i));
        Boolean b = conditions.get(some.get(j));
        String and = "(" + some.get(i) + ") AND (" + some.get(j) + ")";
        String or = "(" + some.get(i) + ") OR (" + some.get(j) + ")";
        Boolean both =
            Boolean.FALSE.equals(a) || Boolean.FALSE.equals(b)
                ? Boolean.FALSE
                : a == null || b == null ? null : Boolean.TRUE;
        Boolean either =
            Boolean.TRUE.equals(a) || Boolean.TRUE.equals(b)
                ? Boolean.TRUE
                : a == null || b == null ? null : Boolean.FALSE;
        deeper.put(and, both);
        deeper.put(or, either);
        deeper.put("NOT (" + and + ")", both == null ? null : !both);
        deeper.put("NOT (" + or + ")", either == null ? null : !either);
      }
    }
    return deeper;
  }

  @Test
  void whatIsNotKnownDecidesOnlyWhereItMatters() throws ConditionException {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("t", true);
    assertThat(verdict("t AND i = 1", row)).isEqualTo(Verdict.MAYBE);
    assertThat(verdict("i = 1 AND NOT t", row)).isEqualTo(Verdict.NO);
    assertThat(verdict("i IN (1) OR t", row)).isEqualTo(Verdict.YES);
    assertThat(verdict("NOT (i = 1 OR t)", row)).isEqualTo(Verdict.NO);
    assertThat(verdict("i IS NULL", row)).isEqualTo(Verdict.MAYBE);
    assertThat(verdict("i IS NOT NULL AND s LIKE 'a'", row)).isEqualTo(Verdict.MAYBE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "i = 5 AN t         | at character 7 (AN t) | AND, OR or the end",
        "i = 5;             | at character 6 (;) | no semicolon",
        "i =                | at its end | a constant is expected",
        "(i = 5             | at its end | ) is expected",
        "i = 5)             | at character 6 | AND, OR or the end",
        "i = NULL           | at character 5 (NULL) | IS NULL",
        "i NOT IN (1, null) | at character 14 (null) | IS NULL",
        "i = '5'            | at character 5 ('5') | column i is int and cannot be compared with text (write a number without quotes)",
        "s = 5              | at character 5 (5) | column s is string and cannot be compared with a number (write it in single quotes)",
        "s = fr             | at character 5 (fr) | text has single quotes: 'fr'",
        "'a' = 'b'          | at character 7 ('b') | a constant is compared with a column",
        "s = \"fr\"         | at character 5 | text has single quotes: 'fr'",
        "i IN 5             | at character 6 (5) | ( is expected",
        "i IN (5            | at its end | ) is expected here, or a comma",
        "i IN ()            | at character 7 | a constant is expected",
        "i BETWEEN 1 OR 2   | at character 13 | AND is expected here: BETWEEN a AND b",
        "i NOT 5            | at character 7 | IN, LIKE or BETWEEN",
        "i IS 5             | at character 6 | NULL is expected",
        "lower(s) = 'a'     | at character 6 | functions are not supported",
        "i + 1 = 2          | at character 3 | expressions are not supported",
        "i * 2 = 2          | at character 3 | expressions are not supported",
        "s = 'a             | at character 5 | the quote is not closed",
        "b = X'0'           | at character 5 | pairs of hexadecimal digits",
        "b = 'fr'           | at character 5 | write its bytes: X'6672'",
        "i LIKE 'a'         | at character 8 | LIKE is for text, but column i is int",
        "s LIKE 5           | at character 8 | text in single quotes is expected",
        "s LIKE 'a!b' ESCAPE '!' | at character 8 | must precede",
        "s LIKE 'a' ESCAPE 'ab' | at character 19 | takes one character",
        "day = '2026-01-01' | at character 7 | write DATE '2026-01-31'",
        "day = DATE '2026-02-30' | at character 12 | no such time or date",
        "at = TIMESTAMP '2026-01-01 00:00:00' | at character 6 | without a time zone (write a time zone: TIMESTAMP",
        "at = DATE '2026-01-01' | at character 6 | with a DATE (write a time zone: TIMESTAMP",
        "local = TIMESTAMP '2026-01-01 00:00:00Z' | at character 9 | without a time zone",
        "at = TIMESTAMP 'now' | at character 16 | no such time or date",
        "u = 'x'            | at character 5 | write '00112233-4455",
        "t = 1              | at character 5 | write TRUE or FALSE",
        "d = 'a'            | at character 5 | 'NaN', 'Infinity'",
        "list = 1           | at character 1 (list = 1) | column list is a list of int",
        "list IS NULL       | at character 1 | is a list of int",
        "span = 1           | at character 1 | only be tested with IS NULL",
        "i = 1e999999       | at character 5 | more than 1000 digits",
        "i = 5a             | at character 5 | not a number",
        "a. = 5             | at character 4 | the name of a field",
      })
  void whatIsWrongHasAPlaceAndATip(String condition, String place, String words) {
    assertThatThrownBy(() -> verdict(condition, Map.of()))
        .isInstanceOf(ConditionException.class)
        .hasMessageStartingWith("--where, " + place)
        .hasMessageContaining(words);
  }

  @Test
  void deepConditionsAreRefusedAndLongOnesAreNot() throws ConditionException {
    assertThatThrownBy(() -> Where.parse("(".repeat(100_000)))
        .isInstanceOf(ConditionException.class)
        .hasMessageContaining("more than 200 levels");
    assertThatThrownBy(() -> Where.parse("  ")).hasMessageContaining("there is no condition");
    String many = "i = 1" + " OR i = 2".repeat(50_000);
    assertThat(test(many, "i", 2)).isTrue();
    assertThat(test("i IN (1" + ", 2".repeat(50_000) + ")", "i", 2)).isTrue();
  }

  @Test
  void columnsAreNamedAsInSql() throws ConditionException {
    assertThat(
            Where.parse(
                    "a.b.\"c.d\" = 1 and \"say \"\"hi\"\"\" = 2 and größe = 3 and date = 4 and A.B = 1")
                .columns()
                .stream()
                .map(ColumnName::parts))
        .containsExactly(
            List.of("a", "b", "c.d"),
            List.of("say \"hi\""),
            List.of("größe"),
            List.of("date"),
            List.of("A", "B"));
  }
}
