package tech.bsdb.trino;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.trino.Session;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;

/** Typed rows as columns. */
final class TypesTest {
  private static final String SCHEMA =
      """
      {"type": "record", "name": "All", "fields": [
        {"name": "id", "type": "int"},
        {"name": "Flag", "type": ["null", "boolean"]},
        {"name": "l", "type": ["null", "long"]},
        {"name": "f", "type": ["null", "float"]},
        {"name": "d", "type": ["null", "double"]},
        {"name": "s", "type": ["null", "string"]},
        {"name": "b", "type": ["null", "bytes"]},
        {"name": "fixed", "type": ["null", {"type": "fixed", "name": "F", "size": 2}]},
        {"name": "color", "type": ["null", {"type": "enum", "name": "E", "symbols": ["RED", "BLUE"]}]},
        {"name": "small", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}]},
        {"name": "large", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10}]},
        {"name": "huge", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 1}]},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "t3", "type": ["null", {"type": "int", "logicalType": "time-millis"}]},
        {"name": "t6", "type": ["null", {"type": "long", "logicalType": "time-micros"}]},
        {"name": "i3", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "i6", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "i9", "type": ["null", {"type": "long", "logicalType": "timestamp-nanos"}]},
        {"name": "l3", "type": ["null", {"type": "long", "logicalType": "local-timestamp-millis"}]},
        {"name": "l6", "type": ["null", {"type": "long", "logicalType": "local-timestamp-micros"}]},
        {"name": "l9", "type": ["null", {"type": "long", "logicalType": "local-timestamp-nanos"}]},
        {"name": "u", "type": ["null", {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}]},
        {"name": "list", "type": ["null", {"type": "array", "items": ["null", "long"]}]},
        {"name": "map", "type": ["null", {"type": "map", "values": "double"}]},
        {"name": "part", "type": ["null", {"type": "record", "name": "P", "fields": [
          {"name": "x", "type": "int"}, {"name": "ys", "type": {"type": "array", "items": "string"}}]}]},
        {"name": "either", "type": ["null", "int", "string"]},
        {"name": "_key", "type": ["null", "string"]}
      ]}
      """;

  private static final String FULL =
      """
      {"id": 1, "Flag": true, "l": -9223372036854775808, "f": 1.5, "d": -0.1, "s": "Zoë 🦊", "b": "AP8=", "fixed": "AQI=",
       "color": "BLUE", "small": -12345.67, "large": 1234567890123456789012345678.0123456789,
       "huge": 1234567890123456789012345678901234567890123456789.5, "day": "1969-12-31", "t3": "23:59:59.999",
       "t6": "00:00:00.000001", "i3": "1969-12-31T23:59:59.999Z", "i6": "1969-12-31T23:59:59.999999Z",
       "i9": "2026-01-31T12:34:56.123456789Z", "l3": "1969-12-31T23:59:59.999", "l6": "2026-01-31T12:34:56.123456",
       "l9": "1969-12-31T23:59:59.999999999", "u": "01234567-89ab-cdef-0123-456789abcdef", "list": [1, null, 3],
       "map": {"a": 1.5, "b": -2.0}, "part": {"x": 7, "ys": ["p", "q"]}, "either": "e", "_key": "own"}
      """;

  private static final List<String> COLUMNS =
      List.of(
          "flag", "l", "f", "d", "s", "b", "fixed", "color", "small", "large", "huge", "day", "t3",
          "t6", "i3", "i6", "i9", "l3", "l6", "l9", "u", "list", "map", "part", "either", "_key");

  @TempDir private static Path directory;
  private static Session session;

  @BeforeAll
  static void build() throws Exception {
    StringBuilder nulls = new StringBuilder("{\"id\": 2");
    for (String column : COLUMNS) {
      nulls.append(", \"").append(column.equals("flag") ? "Flag" : column).append("\": null");
    }
    Path rows =
        Stored.rows(
            directory.resolve("all"),
            SCHEMA,
            "id",
            List.of(FULL.replace("\n", " "), nulls.append("}").toString()),
            BuildOptions.defaults());
    session =
        LocalTrino.catalog(Map.of("bsdb.table.rows", rows.toString(), "bsdb.table.rows.key", "id"));
  }

  @Test
  void columnsHaveTheTypesOfTheirFields() {
    assertThat(
            LocalTrino.rows(session, "DESCRIBE rows").stream()
                .map(row -> row.replaceAll(", , \\]", "]"))
                .toList())
        .containsExactlyInAnyOrder(
            "[id, integer]",
            "[flag, boolean]",
            "[l, bigint]",
            "[f, real]",
            "[d, double]",
            "[s, varchar]",
            "[b, varbinary]",
            "[fixed, varbinary]",
            "[color, varchar]",
            "[small, decimal(9,2)]",
            "[large, decimal(38,10)]",
            "[huge, varchar]",
            "[day, date]",
            "[t3, time(3)]",
            "[t6, time(6)]",
            "[i3, timestamp(3) with time zone]",
            "[i6, timestamp(6) with time zone]",
            "[i9, timestamp(9) with time zone]",
            "[l3, timestamp(3)]",
            "[l6, timestamp(6)]",
            "[l9, timestamp(9)]",
            "[u, uuid]",
            "[list, array(bigint)]",
            "[map, map(varchar, double)]",
            "[part, row(\"x\" integer, \"ys\" array(varchar))]",
            "[either, row(\"member0\" integer, \"member1\" varchar)]",
            "[_key, varchar]");
  }

  /** Compares with literals, in Trino. */
  @Test
  void valuesAreThoseOfTheRows() {
    Map<String, String> expected =
        Map.ofEntries(
            Map.entry("flag", "true"),
            Map.entry("l", "BIGINT '-9223372036854775808'"),
            Map.entry("f", "REAL '1.5'"),
            Map.entry("d", "DOUBLE '-0.1'"),
            Map.entry("s", "'Zoë 🦊'"),
            Map.entry("b", "X'00FF'"),
            Map.entry("fixed", "X'0102'"),
            Map.entry("color", "'BLUE'"),
            Map.entry("small", "DECIMAL '-12345.67'"),
            Map.entry("large", "DECIMAL '1234567890123456789012345678.0123456789'"),
            Map.entry("huge", "'1234567890123456789012345678901234567890123456789.5'"),
            Map.entry("day", "DATE '1969-12-31'"),
            Map.entry("t3", "TIME '23:59:59.999'"),
            Map.entry("t6", "TIME '00:00:00.000001'"),
            Map.entry("i3", "TIMESTAMP '1969-12-31 23:59:59.999 UTC'"),
            Map.entry("i6", "TIMESTAMP '1969-12-31 23:59:59.999999 UTC'"),
            Map.entry("i9", "TIMESTAMP '2026-01-31 12:34:56.123456789 UTC'"),
            Map.entry("l3", "TIMESTAMP '1969-12-31 23:59:59.999'"),
            Map.entry("l6", "TIMESTAMP '2026-01-31 12:34:56.123456'"),
            Map.entry("l9", "TIMESTAMP '1969-12-31 23:59:59.999999999'"),
            Map.entry("u", "UUID '01234567-89ab-cdef-0123-456789abcdef'"),
            Map.entry("list", "ARRAY[1, null, 3]"),
            Map.entry("map", "MAP(ARRAY['a', 'b'], ARRAY[DOUBLE '1.5', -2.0])"),
            Map.entry("part", "ROW(7, ARRAY['p', 'q'])"),
            Map.entry("either", "ROW(CAST(null AS integer), 'e')"),
            Map.entry("_key", "'own'"));
    assertThat(expected.keySet()).containsExactlyInAnyOrderElementsOf(COLUMNS);
    for (String where : List.of("id = 1", "id + 0 = 1")) { // a lookup, a scan
      List<String> same = new ArrayList<>();
      expected.forEach((column, value) -> same.add(column + " IS NOT DISTINCT FROM " + value));
      String query = "SELECT " + String.join(", ", same) + " FROM rows WHERE " + where;
      assertThat(LocalTrino.run(session, query).getMaterializedRows())
          .singleElement()
          .satisfies(row -> assertThat(row.getFields()).as("%s", same).containsOnly(true));
    }
  }

  @Test
  void nullsAreNull() {
    List<String> missing = COLUMNS.stream().map(column -> column + " IS NULL").toList();
    assertThat(
            LocalTrino.rows(session, "SELECT id FROM rows WHERE " + String.join(" AND ", missing)))
        .containsExactly("[2]");
  }

  @Test
  void theKeyIsHiddenAndHasAnotherNameIfAFieldHasIt() {
    assertThat(LocalTrino.rows(session, "SELECT _key_1, id FROM rows"))
        .containsExactly("[1, 1]", "[2, 2]");
  }

  @Test
  void aRecordWithoutFieldsIsRefused() throws Exception {
    String schema =
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"id\",\"type\":\"int\"},{\"name\":\"e\",\"type\":"
            + "{\"type\":\"record\",\"name\":\"N\",\"fields\":[]}}]}";
    Path rows =
        Stored.rows(
            directory.resolve("empty"),
            schema,
            "id",
            List.of("{\"id\":1,\"e\":{}}"),
            BuildOptions.defaults());
    Session other = LocalTrino.catalog(Map.of("bsdb.table.e", rows.toString()));
    assertThatThrownBy(() -> LocalTrino.run(other, "SELECT id FROM e"))
        .hasMessageContaining("column e is a record without fields, for which Trino has no type");
  }
}
