package tech.bsdb.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every type, written by a batch and read by a lookup join. */
final class TypesTest {
  private static LocalFlink flink;

  @TempDir private Path directory;

  @BeforeAll
  static void start() throws Exception {
    flink = new LocalFlink();
  }

  @AfterAll
  static void stop() throws Exception {
    flink.close();
  }

  private static final String COLUMNS =
      """
      id BIGINT NOT NULL, b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE,
      m DECIMAL(20, 3), c CHAR(3), v VARCHAR(10), x STRING, y BYTES, da DATE, ti TIME(3),
      ts3 TIMESTAMP(3), ts6 TIMESTAMP(6), ts9 TIMESTAMP(9), tl TIMESTAMP_LTZ(6),
      r ROW<a INT, z STRING, n ROW<k TINYINT>>, a ARRAY<SMALLINT>, mp MAP<STRING, INT>,
      mi MAP<INT, TINYINT>""";

  private static final String FULL =
      """
      SELECT CAST(1 AS BIGINT) AS id, TRUE, CAST(-128 AS TINYINT), CAST(32767 AS SMALLINT), -1,
        9223372036854775807, CAST(1.5 AS FLOAT), 2.25E-300, CAST('12345678901234567.891' AS DECIMAL(20,3)),
        'abc', 'var', 'Grüße ☃', X'00ff10', DATE '1969-12-31', TIME '23:59:59.999',
        TIMESTAMP '1969-12-31 23:59:59.999', TIMESTAMP '2026-11-30 10:00:00.123456',
        TIMESTAMP '2026-11-30 10:00:00.123456789',
        TO_TIMESTAMP_LTZ(-1, 3), CAST(ROW(7, 'in', ROW(CAST(-3 AS TINYINT))) AS ROW<a INT, z STRING, n ROW<k TINYINT>>),
        ARRAY[CAST(1 AS SMALLINT), CAST(NULL AS SMALLINT), CAST(-5 AS SMALLINT)], MAP['one', 1, 'none', CAST(NULL AS INT)],
        MAP[10, CAST(1 AS TINYINT), -20, CAST(2 AS TINYINT)]""";

  private static String nulls() {
    StringBuilder select = new StringBuilder("SELECT CAST(2 AS BIGINT)");
    for (String column : COLUMNS.replace("\n", " ").split(", (?=[a-z0-9]+ [A-Z])", -1)) {
      String[] parts = column.strip().split(" ", 2);
      if (!parts[0].equals("id") && !parts[0].equals("z") && !parts[0].equals("n")) {
        select.append(", CAST(NULL AS ").append(type(parts[0])).append(")");
      }
    }
    return select.toString();
  }

  private static String type(String column) {
    return switch (column) {
      case "r" -> "ROW<a INT, z STRING, n ROW<k TINYINT>>";
      case "a" -> "ARRAY<SMALLINT>";
      case "mp" -> "MAP<STRING, INT>";
      case "mi" -> "MAP<INT, TINYINT>";
      default -> {
        String found = COLUMNS.replaceAll("(?s).*\\b" + column + " ", "");
        yield found.replaceAll("(?s)(^[A-Z_]+(\\([0-9, ]+\\))?).*", "$1");
      }
    };
  }

  @Test
  void everyTypeComesBack() throws Exception {
    StreamTableEnvironment tables = flink.batch();
    String table = "(" + COLUMNS + ", PRIMARY KEY (id) NOT ENFORCED)";
    LocalFlink.run(
        tables,
        "CREATE TABLE t " + table + LocalFlink.at(directory.resolve("store")),
        "INSERT OVERWRITE t " + FULL + " UNION ALL " + nulls());
    StreamTableEnvironment streams = flink.stream();
    LocalFlink.run(streams, "CREATE TABLE t " + table + LocalFlink.at(directory.resolve("store")));
    List<String> found =
        LocalFlink.rows(
            streams,
            "SELECT t.* FROM (SELECT k, PROCTIME() AS p FROM (VALUES (CAST(1 AS BIGINT)), (2), (3)) AS q(k)) AS q"
                + " JOIN t FOR SYSTEM_TIME AS OF q.p ON q.k = t.id");
    List<String> expected = LocalFlink.rows(tables, FULL).stream().map(row -> row).toList();
    assertThat(found).hasSize(2);
    assertThat(found.get(0)).isEqualTo(expected.get(0));
    assertThat(found.get(1)).isEqualTo("+I[2" + ", null".repeat(22) + "]");
  }
}
