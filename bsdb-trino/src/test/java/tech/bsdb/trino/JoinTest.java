package tech.bsdb.trino;

import static org.assertj.core.api.Assertions.assertThat;

import io.trino.Session;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;

/** Joins by keys, as lookups of both kinds and without lookups. */
final class JoinTest {
  private static final int RECORDS = 100_000;

  @TempDir private static Path directory;
  private static Session usual;
  private static Session lookups;
  private static Session filters;

  @BeforeAll
  static void build() throws Exception {
    Path plain = Stored.plain(directory.resolve("a"), RECORDS, "v", BuildOptions.defaults());
    Path divided =
        Stored.plain(directory.resolve("b"), RECORDS, "v", BuildOptions.defaults().withShards(3));
    String schema =
        """
        {"type":"record","name":"City","fields":[{"name":"country","type":"string"},{"name":"code","type":"long"},
        {"name":"name","type":["null","string"]}]}
        """;
    List<String> cities = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      cities.add(
          "{\"key\":\"c%d/%d\",\"country\":\"c%d\",\"code\":%d,\"name\":\"n%d\"}"
              .formatted(i % 3, i, i % 3, i, i));
    }
    Path parts =
        Stored.rows(directory.resolve("c"), schema, "key", cities, BuildOptions.defaults());
    usual =
        LocalTrino.catalog(
            Map.of(
                "bsdb.table.plain", plain.toString(),
                "bsdb.table.divided", divided.toString(),
                "bsdb.table.cities", parts.toString(),
                "bsdb.table.cities.key", "country, code",
                "bsdb.table.cities.key-join", "/"));
    lookups = LocalTrino.withLookupJoins(usual, "always");
    filters = LocalTrino.withLookupJoins(usual, "never");
    LocalTrino.run(
        lookups,
        "CREATE TABLE memory.default.asked AS SELECT 'k' || CAST(n * 7 AS varchar) AS k, n,"
            + " 'c' || CAST(n % 3 AS varchar) AS country FROM UNNEST(sequence(0, 399)) t(n)"
            + " UNION ALL SELECT 'absent', 400, 'c0' UNION ALL SELECT NULL, 401, NULL UNION ALL SELECT 'k7', 1, 'c1'");
  }

  private static void check(String query, String lookup, String filter, String... expected) {
    assertThat(LocalTrino.explain(lookups, query)).contains(lookup);
    assertThat(LocalTrino.explain(filters, query)).contains(filter).doesNotContain("IndexJoin");
    assertThat(LocalTrino.rows(lookups, query)).containsExactly(expected);
    assertThat(LocalTrino.rows(filters, query)).containsExactly(expected);
  }

  @Test
  void joinsLookUpKeys() {
    for (String table : List.of("plain", "divided")) {
      check(
          "SELECT count(*), count(DISTINCT a.k), count_if(b._value = 'v' || CAST(a.n * 7 AS varchar))"
              + " FROM memory.default.asked a JOIN "
              + table
              + " b ON a.k = b._key",
          "IndexJoin",
          "dynamicFilters",
          "[401, 400, 401]");
    }
  }

  @Test
  void smallTablesAreScannedUnlessAskedOtherwise() {
    String query = "SELECT count(*) FROM memory.default.asked a JOIN plain b ON a.k = b._key";
    assertThat(LocalTrino.explain(usual, query)).doesNotContain("IndexJoin");
    assertThat(LocalTrino.rows(usual, query)).containsExactly("[401]");
  }

  @Test
  void outerJoinsKeepRowsWithoutKeys() {
    check(
        "SELECT count(*), count(b._value) FROM memory.default.asked a LEFT JOIN plain b ON a.k = b._key",
        "IndexJoin",
        "plain scan",
        "[403, 401]");
  }

  @Test
  void joinsBySeveralColumns() {
    check(
        "SELECT count(*), count(c.name), count_if(c.name = 'n' || CAST(a.n AS varchar))"
            + " FROM memory.default.asked a JOIN cities c ON a.n = c.code AND a.country = c.country",
        "IndexJoin",
        "dynamicFilters",
        "[401, 401, 401]");
  }

  /** Two pairs make the key {@code a/b/c}, of which one is stored. */
  @Test
  void otherColumnsWithTheSameKeyFindNothing() throws Exception {
    String schema =
        """
        {"type":"record","name":"Pair","fields":[{"name":"a","type":"string"},{"name":"b","type":"string"}]}
        """;
    List<String> pairs = List.of("{\"key\":\"a/b/c\",\"a\":\"a/b\",\"b\":\"c\"}");
    Path built =
        Stored.rows(directory.resolve("pairs"), schema, "key", pairs, BuildOptions.defaults());
    Session session =
        LocalTrino.catalog(
            Map.of(
                "bsdb.table.pairs", built.toString(),
                "bsdb.table.pairs.key", "a,b",
                "bsdb.table.pairs.key-join", "/"));
    String query =
        "SELECT q.a, t.a FROM (VALUES ('a', 'b/c'), ('a/b', 'c')) q(a, b) LEFT JOIN pairs t ON q.a = t.a AND q.b = t.b";
    Session always = LocalTrino.withLookupJoins(session, "always");
    assertThat(LocalTrino.explain(always, query)).contains("IndexJoin");
    assertThat(LocalTrino.rows(always, query)).containsExactly("[a, null]", "[a/b, a/b]");
    assertThat(LocalTrino.rows(session, query)).containsExactly("[a, null]", "[a/b, a/b]");
  }

  /** The nanoseconds of the second time are those of the first and 2^64. */
  @Test
  void timesThatNoRowCanHoldFindNothing() throws Exception {
    String schema =
        """
        {"type":"record","name":"T","fields":[{"name":"at","type":{"type":"long","logicalType":"timestamp-nanos"}},
        {"name":"local","type":{"type":"long","logicalType":"local-timestamp-nanos"}}]}
        """;
    String at = "2026-01-31T12:34:56.123456789";
    String first = "1677-09-21T00:12:43.145224192"; // a long has no earlier one
    List<String> times =
        List.of(
            "{\"at\":\"%sZ\",\"local\":\"%s\"}".formatted(at, at),
            "{\"at\":\"%sZ\",\"local\":\"%s\"}".formatted(first, first));
    for (String column : List.of("at", "local")) {
      Path built =
          Stored.rows(directory.resolve(column), schema, column, times, BuildOptions.defaults());
      Session session =
          LocalTrino.catalog(
              Map.of("bsdb.table.times", built.toString(), "bsdb.table.times.key", column));
      String zone = column.equals("at") ? " UTC" : "";
      String later = "TIMESTAMP '2610-08-22 12:09:29.833008405%s'".formatted(zone);
      String early = "TIMESTAMP '1677-09-21 00:12:43.145224192%s'".formatted(zone);
      for (String asked : List.of(later, early)) {
        String query =
            "SELECT count(*), count(t.%1$s) FROM (VALUES %2$s) q(at) LEFT JOIN times t ON q.at = t.%1$s"
                .formatted(column, asked);
        Session always = LocalTrino.withLookupJoins(session, "always");
        String expected = asked.equals(later) ? "[1, 0]" : "[1, 1]";
        assertThat(LocalTrino.explain(always, query)).contains("IndexJoin");
        assertThat(LocalTrino.rows(always, query)).containsExactly(expected);
        assertThat(LocalTrino.rows(session, query)).containsExactly(expected);
      }
      String where = "SELECT 1 FROM times WHERE " + column + " = ";
      assertThat(LocalTrino.rows(session, where + later)).isEmpty();
      assertThat(LocalTrino.rows(session, where + early)).hasSize(1);
    }
  }

  /** An approximate database answers some keys that it does not have with rows of other keys. */
  @Test
  void rowsOfOtherKeysAreLeftOut() throws Exception {
    String schema =
        """
        {"type":"record","name":"Id","fields":[{"name":"id","type":"long"}]}
        """;
    List<String> ids = IntStream.range(0, 1_000).mapToObj("{\"id\":%d}"::formatted).toList();
    BuildOptions options = BuildOptions.defaults().withApproximateWidth(3);
    Path built = Stored.rows(directory.resolve("ids"), schema, "id", ids, options);
    Session session =
        LocalTrino.catalog(Map.of("bsdb.table.ids", built.toString(), "bsdb.table.ids.key", "id"));
    String query =
        "SELECT count(*), count(t.id) FROM UNNEST(sequence(0, 2999)) q(n) LEFT JOIN ids t ON q.n = t.id";
    assertThat(LocalTrino.rows(LocalTrino.withLookupJoins(session, "always"), query))
        .containsExactly("[3000, 1000]");
  }

  @Test
  void joinsByOtherColumnsAreHashJoins() {
    String query = "SELECT count(*) FROM memory.default.asked a JOIN cities c ON a.n = c.code";
    assertThat(LocalTrino.explain(lookups, query)).doesNotContain("IndexJoin");
    assertThat(LocalTrino.rows(lookups, query)).containsExactly("[403]");
  }

  @Test
  void conditionsOfJoinsStillHold() {
    check(
        "SELECT a.k, b._value FROM memory.default.asked a JOIN plain b ON a.k = b._key"
            + " WHERE b._value LIKE 'v27%' AND a.n < 40",
        "IndexJoin", "dynamicFilters", "[k273, v273]");
  }

  /** Fewer rows are read than the table has. */
  @Test
  void keysOfTheOtherSideAreLookedUp() {
    String query =
        "EXPLAIN ANALYZE SELECT count(b._value) FROM plain b JOIN memory.default.asked a ON a.k = b._key";
    assertThat((String) LocalTrino.run(filters, query).getOnlyValue())
        .contains("Input: 400 rows")
        .doesNotContain("Input: 100000 rows");
    assertThat((String) LocalTrino.run(lookups, query).getOnlyValue())
        .doesNotContain("Input: 100000 rows");
  }
}
