package tech.bsdb.trino;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.trino.Session;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;

/** Queries of single tables. */
final class LookupTest {
  private static final int RECORDS = 3_000;

  @TempDir private static Path directory;
  private static Session session;

  @BeforeAll
  static void build() throws Exception {
    Path stores = Files.createDirectory(directory.resolve("stores"));
    Stored.plain(stores.resolve("Plain"), RECORDS, "v", BuildOptions.defaults());
    Stored.plain(
        stores.resolve("ordered"), RECORDS, "v", BuildOptions.defaults().withOrderedKeys(true));
    Stored.plain(stores.resolve("divided"), RECORDS, "v", BuildOptions.defaults().withShards(4));
    Stored.plain(
        stores.resolve("approximate"),
        RECORDS,
        "v",
        BuildOptions.defaults().withApproximateWidth(5));
    Files.createDirectory(stores.resolve("other"));
    Stored.plain(stores.resolve("unpublished/monday"), 1, "v", BuildOptions.defaults());
    String city =
        """
        {"type":"record","name":"City","fields":[{"name":"country","type":"string"},{"name":"code","type":"long"},
        {"name":"built","type":{"type":"int","logicalType":"date"}},{"name":"name","type":"string"}]}
        """;
    List<String> cities = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      cities.add(
          "{\"country\":\"c%d\",\"code\":%d,\"built\":\"1900-01-%02d\",\"name\":\"n%d\"}"
              .formatted(i % 3, i, i + 1, i));
    }
    Path byCode =
        Stored.rows(directory.resolve("a"), city, "code", cities, BuildOptions.defaults());
    Path byDay =
        Stored.rows(directory.resolve("b"), city, "built", cities, BuildOptions.defaults());
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      ids.add("{\"key\":\"%d\",\"id\":%d}".formatted(i, i));
    }
    ids.add("{\"key\":\"0%d\",\"id\":%d}".formatted(RECORDS, RECORDS));
    Path late =
        Stored.rows(
            directory.resolve("c"),
            """
            {"type":"record","name":"Id","fields":[{"name":"id","type":"long"}]}
            """,
            "key",
            ids,
            BuildOptions.defaults());
    Path bytes = directory.resolve("bytes");
    try (DatabaseBuilder builder = DatabaseBuilder.create(bytes, BuildOptions.defaults())) {
      builder.add(new byte[] {(byte) 0xFF}, new byte[] {0});
      builder.add("é".getBytes(UTF_8), "è".getBytes(UTF_8));
      Object unused = builder.finish();
    }
    session =
        LocalTrino.catalog(
            Map.ofEntries(
                Map.entry("bsdb.stores", stores.toString()),
                Map.entry("bsdb.table.codes", byCode.toString()),
                Map.entry("bsdb.table.codes.key", "CODE"),
                Map.entry("bsdb.table.days", byDay.toUri().toString()),
                Map.entry("bsdb.table.days.key", "built"),
                Map.entry("bsdb.table.late", late.toString()),
                Map.entry("bsdb.table.late.key", "id"),
                Map.entry("bsdb.table.late_few", late.toString()),
                Map.entry("bsdb.table.late_few.key", "id"),
                Map.entry("bsdb.table.late_few.key-check", "few"),
                Map.entry("bsdb.table.unknown_key", byCode.toString()),
                Map.entry("bsdb.table.wrong_key", byCode.toString()),
                Map.entry("bsdb.table.wrong_key.key", "name"),
                Map.entry("bsdb.table.no_key", byCode.toString()),
                Map.entry("bsdb.table.no_key.key", "nmae"),
                Map.entry("bsdb.table.text", bytes.toString()),
                Map.entry("bsdb.table.bytes", bytes.toString()),
                Map.entry("bsdb.table.bytes.text", "false"),
                Map.entry("bsdb.table.missing", directory.resolve("missing").toString())));
  }

  private static List<String> rows(String query) {
    return LocalTrino.rows(session, query);
  }

  private static String explain(String query) {
    return LocalTrino.explain(session, query);
  }

  @Test
  void listsTables() {
    assertThat(rows("SHOW TABLES"))
        .containsExactly(
            "[approximate]",
            "[bytes]",
            "[codes]",
            "[days]",
            "[divided]",
            "[late]",
            "[late_few]",
            "[missing]",
            "[no_key]",
            "[ordered]",
            "[plain]",
            "[text]",
            "[unknown_key]",
            "[unpublished]",
            "[wrong_key]");
    assertThat(rows("SHOW SCHEMAS")).contains("[default]");
    assertThat(
            rows(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = 'default' AND table_name = 'plain'"))
        .containsExactly("[_key]", "[_value]");
    assertThatThrownBy(() -> rows("SELECT * FROM other")).hasMessageContaining("does not exist");
    assertThatThrownBy(() -> rows("SELECT * FROM unpublished"))
        .hasMessageContaining("it has no CURRENT; to make a version current: bsdb rollback");
  }

  @Test
  void looksUpKeys() {
    assertThat(rows("SELECT * FROM plain WHERE _key = 'k7'")).containsExactly("[k7, v7]");
    assertThat(rows("SELECT * FROM plain WHERE _key = 'absent'")).isEmpty();
    assertThat(rows("SELECT * FROM plain WHERE _key IS NULL")).isEmpty();
    assertThat(rows("SELECT * FROM plain WHERE _key = ''")).isEmpty();
    String in = "SELECT * FROM plain WHERE _key IN ('k1', 'k2999', 'absent', 'k1', NULL)";
    assertThat(rows(in)).containsExactly("[k1, v1]", "[k2999, v2999]");
    assertThat(explain(in)).contains("plain lookup of 3 keys by _key");
    assertThat(explain("SELECT * FROM plain")).contains("plain scan");
    assertThat(rows("SELECT _value FROM plain WHERE _key = 'k1' AND _value = 'v2'")).isEmpty();
    assertThat(rows("SELECT _value FROM plain WHERE _key = 'k1' OR _value = 'v2'"))
        .containsExactly("[v1]", "[v2]");
    assertThat(rows("SELECT 1 FROM plain WHERE _key = '" + "x".repeat(70_000) + "'")).isEmpty();
  }

  @Test
  void looksUpManyKeys() {
    String in =
        String.join(
            ", ",
            java.util.stream.IntStream.range(0, 1_200).mapToObj(i -> "'k" + i * 3 + "'").toList());
    for (String table : List.of("plain", "divided", "ordered", "approximate")) {
      String query =
          "SELECT count(*), count(DISTINCT _value) FROM " + table + " WHERE _key IN (" + in + ")";
      assertThat(explain(query)).contains(table + " lookup of 1200 keys");
      if (!table.equals("approximate")) { // which may answer absent keys
        assertThat(rows(query)).containsExactly("[1000, 1000]");
      }
    }
  }

  @Test
  void scans() {
    for (String table : List.of("plain", "divided", "ordered")) {
      assertThat(rows("SELECT * FROM " + table))
          .hasSize(RECORDS)
          .contains("[k0, v0]", "[k2999, v2999]")
          .doesNotHaveDuplicates();
      assertThat(rows("SELECT count(*), count(_value), min(_key) FROM " + table))
          .containsExactly("[3000, 3000, k0]");
      assertThat(rows("SELECT count(*) FROM " + table)).containsExactly("[3000]");
      assertThat(rows("SELECT * FROM " + table + " LIMIT 10")).hasSize(10);
      assertThat(rows("SELECT * FROM " + table + " WHERE _value LIKE '%99' LIMIT 1000"))
          .hasSize(30);
    }
    assertThat(explain("SELECT * FROM plain LIMIT 10")).contains("plain scan limit 10");
  }

  @Test
  void readsRanges() {
    for (String where :
        List.of(
            "_key >= 'k10' AND _key < 'k11'",
            "_key LIKE 'k10%'",
            "_key BETWEEN 'k10' AND 'k1099' AND _key <> 'k1099x'")) {
      assertThat(rows("SELECT _key FROM ordered WHERE " + where)).hasSize(111);
      assertThat(rows("SELECT _key FROM plain WHERE " + where)).hasSize(111);
      assertThat(explain("SELECT _key FROM ordered WHERE " + where))
          .contains("ordered range of keys by _key");
    }
    assertThat(rows("SELECT _value FROM ordered WHERE _key > 'k998'")).containsExactly("[v999]");
    assertThat(rows("SELECT * FROM ordered WHERE _key < 'k'")).isEmpty();
    assertThat(rows("SELECT _value FROM ordered WHERE _key < 'k1' OR _key > 'k998'"))
        .containsExactly("[v0]", "[v999]");
  }

  @Test
  void looksUpColumnsOfKeys() {
    assertThat(rows("SELECT name, _key FROM codes WHERE code = 7")).containsExactly("[n7, 7]");
    assertThat(explain("SELECT name FROM codes WHERE code IN (7, 8)"))
        .contains("codes lookup of 2 keys by code");
    assertThat(rows("SELECT code FROM days WHERE built = DATE '1900-01-03'"))
        .containsExactly("[2]");
    assertThat(explain("SELECT code FROM days WHERE built = DATE '1900-01-03'"))
        .contains("days lookup of 1 key by built");
    assertThat(rows("SELECT name FROM unknown_key WHERE code = 7")).containsExactly("[n7]");
    assertThat(explain("SELECT name FROM unknown_key WHERE code = 7")).contains("unknown_key scan");
    assertThat(rows("SELECT name FROM unknown_key WHERE _key = '7'")).containsExactly("[n7]");
    assertThat(rows("SELECT name FROM codes WHERE code > 17")).hasSize(2);
  }

  @Test
  void tellsWrongKeys() {
    assertThatThrownBy(() -> rows("SELECT name FROM wrong_key"))
        .hasMessageContaining("is not made of name, which would be");
    assertThatThrownBy(() -> rows("SELECT name FROM no_key"))
        .hasMessageContaining(
            "bsdb.table.no_key.key: there is no column nmae; the columns are country, code, built, name");
  }

  /** One key among many that the check of a few does not see is not the text of its column. */
  @Test
  void lookupsByColumnsMissNoRowThatAScanFinds() {
    String wrong = "key \"03000\" is not made of id, which would be \"3000\"";
    String join = "SELECT t.id FROM late t JOIN (VALUES BIGINT '3000') q(id) ON t.id = q.id";
    Session indexed = LocalTrino.withLookupJoins(session, "always");
    for (int round = 0; round < 2; round++) {
      assertThat(rows("SELECT id, _key FROM late WHERE id > 2998"))
          .containsExactly("[2999, 2999]", "[3000, 03000]");
      assertThat(rows("SELECT id FROM late WHERE _key = '03000'")).containsExactly("[3000]");
      assertThatThrownBy(() -> rows("SELECT id FROM late WHERE id = 3000"))
          .hasMessageContaining(wrong);
      assertThatThrownBy(() -> rows(join)).hasMessageContaining(wrong);
      assertThatThrownBy(() -> LocalTrino.rows(indexed, join)).hasMessageContaining(wrong);
    }
    assertThat(rows("SELECT id FROM late_few WHERE id IN (2999, 3000)")).containsExactly("[2999]");
  }

  @Test
  void readsBytes() {
    assertThat(rows("SELECT to_hex(_key), to_hex(_value) FROM bytes"))
        .containsExactly("[C3A9, C3A8]", "[FF, 00]");
    assertThat(rows("SELECT to_hex(_value) FROM bytes WHERE _key = X'FF'")).containsExactly("[00]");
    assertThat(rows("SELECT _value FROM text WHERE _key = 'é'")).containsExactly("[è]");
    assertThatThrownBy(() -> rows("SELECT * FROM text"))
        .hasMessageContaining("the key is not UTF-8; set bsdb.table.NAME.text=false");
  }

  @Test
  void refusesToScanApproximateDatabases() {
    assertThat(rows("SELECT _key, _value FROM approximate WHERE _key = 'k7'"))
        .containsExactly("[k7, v7]");
    assertThatThrownBy(() -> rows("SELECT * FROM approximate"))
        .hasMessageContaining("approximate is approximate and stores no keys");
  }

  @Test
  void tellsMissingDatabases() {
    assertThatThrownBy(() -> rows("SELECT * FROM missing"))
        .hasMessageContaining("missing")
        .hasMessageContaining(directory.resolve("missing").toString());
  }

  @Test
  void hasExactStatistics() {
    assertThat(rows("SHOW STATS FOR plain"))
        .contains(
            "[null, null, null, null, 3000.0, null, null]",
            "[_key, null, 3000.0, 0.0, null, null, null]");
  }

  @Test
  void refusesWrites() {
    assertThatThrownBy(() -> rows("INSERT INTO plain VALUES ('a', 'b')"))
        .hasMessageContaining("does not support inserts");
  }
}
