package tech.bsdb.spark.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.spark.LocalSpark;

/** Filters on ordered keys have the answers that Spark has for the same rows elsewhere. */
class RangeAnswersTest {
  private static final SplittableRandom RANDOM = Seeds.random("RangeAnswersTest");

  private static final SparkSession SPARK = LocalSpark.interpreting();

  @TempDir Path directory;

  @BeforeAll
  static void use() {
    SparkSession.setActiveSession(SPARK);
  }

  @AfterAll
  static void leave() {
    LocalSpark.session();
  }

  private static Path write(Dataset<Row> rows, Path store, Map<String, String> options) {
    rows.write()
        .format("bsdb")
        .option("ordered", true)
        .options(options)
        .mode("overwrite")
        .save(store.toString());
    return store;
  }

  private static Dataset<Row> read(Path store, Map<String, String> options) {
    return SPARK.read().format("bsdb").options(options).load(store.toString());
  }

  private static void requireSame(Dataset<Row> table, Dataset<Row> model, String... conditions) {
    for (String condition : Rounds.some(List.of(conditions), 3, RANDOM)) {
      List<String> expected = ShownRows.of(model.where(condition));
      assertThat(ShownRows.of(table.where(condition))).as(condition).isEqualTo(expected);
      assertThat(table.where(condition).count()).as(condition).isEqualTo(expected.size());
    }
  }

  private static void requireSameColumn(
      Dataset<Row> table, Dataset<Row> model, String column, String... conditions) {
    requireSame(table, model, conditions);
    for (String condition : Rounds.some(List.of(conditions), 3, RANDOM)) {
      assertThat(ShownRows.of(table.where(condition).select(column)))
          .as(condition)
          .isEqualTo(ShownRows.of(model.where(condition).select(column)));
    }
  }

  @Test
  void rowsWhoseKeysWereMadeOfAnotherColumn() {
    Dataset<Row> rows = SPARK.range(0, 1_000, 1, 1).selectExpr("concat('r', id) AS real");
    Path store = directory.resolve("store");
    write(rows.selectExpr("real", "real AS id"), store, Map.of("key", "real"));
    // beyond the records that are checked
    List<Row> stored = read(store, Map.of()).select("real").collectAsList();
    String other = stored.get(500).getString(0);
    String none = stored.get(600).getString(0);
    Dataset<Row> changed =
        rows.selectExpr(
            "real",
            "CASE real WHEN '"
                + other
                + "' THEN 'zzz' WHEN '"
                + none
                + "' THEN NULL ELSE real END AS id");
    write(changed, store, Map.of("key", "real"));

    Dataset<Row> table = read(store, Map.of("key", "id"));
    assertThat(table.where("id LIKE 'r%'").queryExecution().executedPlan().toString())
        .contains(", range id LIKE 'r%' of ");
    requireSameColumn(
        table,
        changed,
        "id",
        "id LIKE 'r%'",
        "id >= '" + other + "' AND id <= '" + other + "'",
        "id < 'x'",
        "id IS NOT NULL AND id >= 'r'",
        "id = '" + none + "'",
        "id BETWEEN '" + none + "' AND '" + none + "0'");
    Dataset<Row> counted =
        table.where("_key >= binary('r') AND _key < binary('s')").selectExpr("count(*)");
    assertThat(counted.queryExecution().executedPlan().toString()).contains("count of the range");
    assertThat(counted.first().getLong(0)).isEqualTo(1_000);
  }

  @Tag("nightly")
  @Test
  void columnsThatAreNamedLikeTheKey() {
    Dataset<Row> rows =
        SPARK
            .range(0, 300, 1, 1)
            .selectExpr(
                "concat('k', id) AS key",
                "concat('i', id % 9) AS id",
                "if(id % 3 = 0, NULL, concat('x', id)) AS _key");
    Path byKey = write(rows, directory.resolve("key"), Map.of("key", "key"));
    requireSameColumn(
        read(byKey, Map.of("key", "key")),
        rows,
        "_key",
        "key > 'k2' AND _key IS NOT NULL",
        "key > 'k2' AND _key > 'x25'",
        "_key = 'x25'",
        "key LIKE 'k2%' AND _key IS NULL");

    Map<String, String> joined = Map.of("key", "id,_key", "keyJoin", "/");
    Dataset<Row> whole = rows.where("_key IS NOT NULL");
    Path byBoth = write(whole, directory.resolve("both"), joined);
    requireSameColumn(
        read(byBoth, joined),
        whole,
        "_key",
        "_key = 'x25'",
        "_key > 'x25'",
        "_key LIKE 'x2%'",
        "id = 'i1' AND _key > 'x25'",
        "id > 'i1' AND _key > 'x25'");

    Map<String, String> first = Map.of("key", "key,id", "keyJoin", "/");
    Path byFirst = write(rows, directory.resolve("first"), first);
    for (String wrong : List.of("key,nonsuch", "key,id,nonsuch")) {
      requireSameColumn(
          read(byFirst, Map.of("key", wrong, "keyJoin", "/")),
          rows,
          "key",
          "key = 'k7'",
          "key <= 'k7'",
          "key LIKE 'k7%'");
    }
  }

  @Test
  void namesWithDotsThatMayMeanTwoColumns() {
    Dataset<Row> rows =
        SPARK
            .range(0, 200, 1, 1)
            .selectExpr(
                "named_struct('b', concat('x', id)) AS a", "concat('y', id % 100, id) AS `a.b`");
    Path store = write(rows, directory.resolve("store"), Map.of("key", "a.b"));
    requireSameColumn(
        read(store, Map.of("key", "a.b")),
        rows,
        "a.b",
        "a.b = 'x7'",
        "`a.b` = 'y77'",
        "a.b > 'x7'",
        "`a.b` > 'y77'",
        "a.b LIKE 'x1%' AND `a.b` LIKE 'y1%'");
  }

  @Tag("nightly")
  @Test
  void partsOfKeysThatContainTheSeparatorOrLesserBytes() {
    List<String> parts =
        List.of("a", "a|", "a||", "a|b", "a!", "a\u0001", "a\0", "ab", "b", "|", "ä", "\uFFFF");
    List<Row> cells = new ArrayList<>();
    List<String> keys = new ArrayList<>();
    for (String join : List.of("|", "", "\u0001")) {
      cells.clear();
      keys.clear();
      for (String one : parts) {
        for (String other : parts) {
          String key = one + join + other;
          if (!keys.contains(key)) {
            keys.add(key);
            cells.add(RowFactory.create(one, other));
          }
        }
      }
      Dataset<Row> rows =
          SPARK.createDataFrame(
              cells,
              new StructType().add("one", DataTypes.StringType).add("two", DataTypes.StringType));
      Map<String, String> options = Map.of("key", "one,two", "keyJoin", join, "shards", "2");
      Path store =
          write(rows, directory.resolve("store" + join.length() + join.hashCode()), options);
      requireSame(
          read(store, Map.of("key", "one,two", "keyJoin", join)),
          rows,
          "one = 'a'",
          "one = 'a|'",
          "one > 'a'",
          "one >= 'a|' AND one <= 'a|b'",
          "one < 'a|'",
          "one LIKE 'a|%'",
          "one = 'a' AND two > 'a|'",
          "one = 'a' AND two < 'a|'",
          "one = 'a|' AND two <= 'b' AND two >= 'a'",
          "one = 'a' AND two LIKE 'a|%'",
          "one LIKE 'a%' AND two = 'a' AND one IS NOT NULL",
          "one IN ('a', 'a|') AND two >= '|'",
          "one = 'a' AND NOT (two < 'a|')",
          "one <=> 'a' AND two < 'ab'",
          "one = 'a' AND two = 'b'");
    }
  }

  @Tag("nightly")
  @Test
  void conditionsOfAllKinds() throws Exception {
    List<String> keys =
        List.of(
            "61",
            "",
            "6125",
            "615F62",
            "615C62",
            "6100",
            "61FF",
            "61FFFF",
            "FF",
            "FFFF",
            "C3A4",
            "41",
            "62",
            "00",
            "6220",
            "EFBFBD",
            "F48FBFBF",
            "61E0",
            "5C",
            "25");
    Path database = directory.resolve("db");
    Map<String, byte[]> records = new LinkedHashMap<>();
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            database, BuildOptions.defaults().withOrderedKeys(true).withShards(8))) {
      for (String key : keys) {
        byte[] bytes = HexFormat.of().parseHex(key);
        records.put(key, bytes);
        builder.add(bytes, ("v" + key).getBytes(UTF_8));
      }
      builder.finish();
    }
    List<Row> cells = new ArrayList<>();
    records.forEach((hex, key) -> cells.add(RowFactory.create(key, "v" + hex)));
    Dataset<Row> bytes =
        SPARK.createDataFrame(
            cells,
            new StructType()
                .add("key", DataTypes.BinaryType, false)
                .add("value", DataTypes.StringType, false));
    Dataset<Row> strings = bytes.selectExpr("CAST(key AS STRING) AS key", "value");
    String longest = "repeat('a', 70000)";
    requireSame(
        read(database, Map.of("keyType", "string", "valueType", "string")),
        strings,
        "key LIKE 'a\\\\%%'",
        "key LIKE 'a_%'",
        "key LIKE 'a#_%' ESCAPE '#'",
        "key LIKE 'a#%%' ESCAPE '#'",
        "key LIKE 'a%' ESCAPE '!'",
        "key LIKE '%'",
        "key LIKE ''",
        "startswith(key, '')",
        "startswith(key, CAST(X'61FF' AS STRING))",
        "startswith(key, CAST(X'FF' AS STRING))",
        "startswith(key, CAST(X'61C3' AS STRING))",
        "key >= CAST(X'61E0' AS STRING)",
        "key > CAST(X'FF' AS STRING)",
        "key < CAST(X'00' AS STRING)",
        "key <= ''",
        "key < ''",
        "key > ''",
        "key > NULL",
        "NOT (key > 'a')",
        "NOT (key LIKE 'a%')",
        "NOT (key IN ('a', NULL))",
        "key IN ('a', NULL)",
        "key IN (NULL) OR key > 'b'",
        "key <=> NULL",
        "key = 'a' OR key > 'b'",
        "key > 'a' AND key <> 'b'",
        "key > 'a' AND key IS NOT NULL",
        "key > 'a' AND key IS NULL",
        "key >= " + longest,
        "key < " + longest,
        "startswith(key, " + longest + ")",
        "key > 'a' AND rand() < 2",
        "key > 'a' AND value LIKE 'v6%'",
        "key > 'B' COLLATE UTF8_LCASE",
        "key COLLATE UTF8_LCASE >= 'B'",
        "key LIKE 'A%' COLLATE UTF8_LCASE",
        "key = 'A' COLLATE UTF8_LCASE",
        "key = 'b' COLLATE UTF8_BINARY_RTRIM",
        "key <= 'b' COLLATE UTF8_BINARY_RTRIM");
    requireSame(
        read(database, Map.of("valueType", "string")),
        bytes,
        "key > X'61'",
        "key <= X'61FF' AND key > X''",
        "key < X''",
        "NOT (key >= X'FF')",
        "startswith(key, X'61')",
        "key LIKE 'a%'",
        "key > 'a'");
    for (String collation : List.of("UTF8_LCASE", "UNICODE_CI", "UTF8_BINARY_RTRIM")) {
      Dataset<Row> collated =
          SPARK
              .read()
              .format("bsdb")
              .option("keyType", "string")
              .option("valueType", "string")
              .schema("key STRING COLLATE " + collation + ", value STRING")
              .load(database.toString());
      requireSame(
          collated,
          strings.selectExpr("key COLLATE " + collation + " AS key", "value"),
          "key > 'A'",
          "key <= 'B'",
          "key = 'A'",
          "key = 'b'",
          "key IN ('A', 'c')",
          "startswith(key, 'A')");
    }
  }

  @Tag("nightly")
  @Test
  void tablesOfPaddedText() {
    Path store = directory.resolve("store");
    SPARK.sql(
        LocalSpark.create("padded")
            + " (id CHAR(4), name VARCHAR(6)) USING bsdb OPTIONS (key 'id', ordered"
            + " 'true', path '"
            + store
            + "')");
    try {
      SPARK.sql("CREATE TABLE padded_files (id CHAR(4), name VARCHAR(6)) USING parquet");
      for (String table : List.of("padded", "padded_files")) {
        SPARK.sql(
            "INSERT OVERWRITE "
                + table
                + " VALUES ('a', 'x'), ('ab', 'y '), ('b', 'z'), ('abcd', '')");
      }
      Dataset<Row> rows = SPARK.table("padded_files");
      requireSameColumn(
          SPARK.table("padded"),
          rows,
          "name",
          "id > 'a'",
          "id > 'a   '",
          "id LIKE 'a %'",
          "id LIKE 'a%'",
          "id <= 'ab  '",
          "id BETWEEN 'ab  ' AND 'b   '");
      assertThat(SPARK.sql("SELECT * FROM padded WHERE ID >= 'b'").count()).isOne();
      assertThat(
              SPARK
                  .sql("SELECT count(*) FROM (SELECT * FROM padded WHERE Id < 'b' LIMIT 2)")
                  .first()
                  .getLong(0))
          .isEqualTo(2);
    } finally {
      SPARK.sql(LocalSpark.drop("padded"));
      SPARK.sql("DROP TABLE IF EXISTS padded_files");
    }
  }
}
