package tech.bsdb.spark.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.spark.LocalSpark;

/** Filters on keys whose order is stored are ranges. */
class RangePlanTest {
  private static final SparkSession SPARK = LocalSpark.interpreting();
  private static final BuildOptions ORDERED = BuildOptions.defaults().withOrderedKeys(true);

  /** Characters of one to four bytes, and those at the ends of what has so many. */
  private static final String[] CHARACTERS = {
    "a",
    "b",
    "%",
    "_",
    "\\",
    "\0",
    "\u007F",
    "\u0080",
    "\u07FF",
    "\u0800",
    "\uD7FF",
    "\uE000",
    "\uFFFF",
    "\uD800\uDC00",
    "\uDBFF\uDFFF"
  };

  private static final byte[] BYTES = {0, 1, 'a', 0x7F, (byte) 0x80, (byte) 0xFE, (byte) 0xFF};

  @TempDir Path directory;

  @BeforeAll
  static void use() {
    SparkSession.setActiveSession(SPARK);
  }

  @AfterAll
  static void leave() {
    LocalSpark.session();
  }

  private final Random random = new Random(Long.getLong("bsdb.seed", 20261125));

  private static DataFrameReader reader() {
    return SPARK.read().format("bsdb");
  }

  private static Dataset<Row> text(Path database) {
    return reader()
        .option("keyType", "string")
        .option("valueType", "string")
        .load(database.toString());
  }

  private static String plan(Dataset<Row> rows) {
    return rows.queryExecution().executedPlan().toString();
  }

  /** Runs a query, which must be planned as a range, and returns how many records it reads. */
  private static long recordsRead(Dataset<Row> rows) {
    SparkPlan plan = rows.queryExecution().executedPlan();
    plan.resetMetrics();
    plan.executeCollect();
    SparkPlan scan = plan.find(each -> each instanceof BatchScanExec).get();
    assertThat(scan.toString()).contains(", range ");
    return scan.metrics().apply("numOutputRows").value();
  }

  private static void assertRange(Dataset<Row> rows, String described, long found) {
    assertThat(plan(rows)).contains(", range " + described + " of ");
    assertThat(recordsRead(rows)).isEqualTo(found);
    assertThat(rows.count()).isEqualTo(found);
  }

  private static void assertNoRange(Dataset<Row> rows, long found) {
    assertThat(plan(rows)).contains(", scan of ").doesNotContain(", range ");
    assertThat(rows.count()).isEqualTo(found);
  }

  private String randomText() {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(5);
    for (int i = 0; i < length; i++) {
      text.append(CHARACTERS[random.nextInt(CHARACTERS.length)]);
    }
    return text.toString();
  }

  private byte[] randomBytes() {
    byte[] bytes = new byte[random.nextInt(5)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = BYTES[random.nextInt(BYTES.length)];
    }
    return bytes;
  }

  /** A comparison of a column with a random value, or several. */
  private Column condition(Column key, Function<Random, Object> value, boolean starts) {
    Column all = lit(true);
    int conditions = 1 + random.nextInt(3);
    for (int i = 0; i < conditions; i++) {
      Column bound = lit(value.apply(random));
      all =
          all.and(
              switch (random.nextInt(starts ? 7 : 5)) {
                case 0 -> key.geq(bound);
                case 1 -> key.gt(bound);
                case 2 -> key.lt(bound);
                case 3 -> key.leq(bound);
                case 4 -> bound.leq(key);
                case 5 -> key.startsWith(bound);
                default -> key.between(bound, lit(value.apply(random)));
              });
    }
    return all;
  }

  private static Path build(Path target, Set<String> hexKeys, BuildOptions options)
      throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (String hex : hexKeys) {
        builder.add(HexFormat.of().parseHex(hex), ("v" + hex).getBytes(UTF_8));
      }
      builder.finish();
    }
    return target;
  }

  private static Dataset<Row> model(Set<String> hexKeys, DataType type) {
    List<Row> rows = new ArrayList<>();
    for (String hex : hexKeys) {
      byte[] key = HexFormat.of().parseHex(hex);
      Object cell = type.equals(DataTypes.StringType) ? new String(key, UTF_8) : key;
      rows.add(RowFactory.create(cell, "v" + hex));
    }
    StructType schema =
        new StructType().add("key", type, false).add("value", DataTypes.StringType, false);
    return SPARK.createDataFrame(rows, schema);
  }

  private void requireSame(
      int rounds,
      Dataset<Row> table,
      Dataset<Row> model,
      Function<Random, Object> value,
      boolean starts) {
    for (int i = 0; i < rounds; i++) {
      Column condition = condition(col("key"), value, starts);
      Dataset<Row> found = table.where(condition);
      List<String> expected = ShownRows.of(model.where(condition));
      assertThat(ShownRows.of(found)).as(condition.toString()).isEqualTo(expected);
      assertThat(found.count()).as(condition.toString()).isEqualTo(expected.size());
      assertThat(ShownRows.of(found.select("key")))
          .as(condition.toString())
          .isEqualTo(ShownRows.of(model.where(condition).select("key")));
      Column more = col("value").like("%a%").and(condition);
      assertThat(table.where(more).count())
          .as(more.toString())
          .isEqualTo(model.where(more).collectAsList().size());
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource(Layout.class)
  void rangesAreThoseOfSpark(Layout layout) throws Exception {
    requireTextRanges(3, layout);
  }

  @ParameterizedTest
  @EnumSource(Layout.class)
  @Tag("long")
  void manyRangesAreThoseOfSpark(Layout layout) throws Exception {
    requireTextRanges(60, layout);
  }

  private void requireTextRanges(int rounds, Layout layout) throws Exception {
    Set<String> keys = new HashSet<>();
    while (keys.size() < 400) {
      keys.add(HexFormat.of().formatHex(randomText().getBytes(UTF_8)));
    }
    BuildOptions options = ORDERED.withLayout(layout);
    int shards = random.nextBoolean() ? 1 : 3;
    Path database = build(directory.resolve("db"), keys, options.withShards(shards));
    Dataset<Row> model = model(keys, DataTypes.StringType);
    requireSame(rounds, text(database), model, any -> randomText(), true);
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"BLOCKED", "PACKED"})
  void rangesOfBytesAreThoseOfSpark(Layout layout) throws Exception {
    requireRangesOfBytes(3, layout);
  }

  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"BLOCKED", "PACKED"})
  @Tag("long")
  void manyRangesOfBytesAreThoseOfSpark(Layout layout) throws Exception {
    requireRangesOfBytes(60, layout);
  }

  private void requireRangesOfBytes(int rounds, Layout layout) throws Exception {
    Set<String> keys = new HashSet<>();
    while (keys.size() < 400) {
      keys.add(HexFormat.of().formatHex(randomBytes()));
    }
    Path database = build(directory.resolve("db"), keys, ORDERED.withLayout(layout).withShards(2));
    Dataset<Row> table = reader().option("valueType", "string").load(database.toString());
    Dataset<Row> model = model(keys, DataTypes.BinaryType);
    requireSame(rounds, table, model, any -> randomBytes(), false);
    requireSame(
        rounds, table.selectExpr("_key AS key", "value"), model, any -> randomBytes(), false);
  }

  @Test
  void whatIsPushed() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 1_000, ORDERED.withShards(4));
    Dataset<Row> table = text(database);
    assertRange(table.where("key > 'k998'"), "key > 'k998'", 1);
    assertRange(table.where("'k998' <= key"), "key >= 'k998'", 2);
    assertRange(table.where("key < 'k1'"), "key < 'k1'", 1);
    assertRange(table.where("key LIKE 'k99%'"), "key LIKE 'k99%'", 11);
    assertRange(table.where("key BETWEEN 'k10' AND 'k11'"), "key >= 'k10' AND key <= 'k11'", 12);
    assertRange(
        table.where("key LIKE 'k9%' AND key LIKE 'k99%' AND key > 'k995'"),
        "key LIKE 'k9%' AND key LIKE 'k99%' AND key > 'k995'",
        4);
    assertRange(
        table.where("key LIKE 'k1%' AND key LIKE 'k2%'"), "key LIKE 'k1%' AND key LIKE 'k2%'", 0);
    assertRange(table.where("key > 'k5' AND key < 'k4'"), "key > 'k5' AND key < 'k4'", 0);
    assertRange(table.where("key >= ''"), "key >= ''", 1_000);
    assertRange(table.where("_key >= X'6B393939'"), "_key >= 0x6B393939", 1);
    String longest = "k" + "9".repeat(70_000);
    assertThat(table.where("key >= '" + longest + "'").count()).isZero();
    assertThat(plan(table.where("key >= '" + longest + "'")).length()).isLessThan(10_000);
    assertThat(table.where("key > 'k99'").rdd().getNumPartitions()).isEqualTo(4);

    Dataset<Row> more = table.where("key LIKE 'k99%' AND value LIKE '%7'");
    assertThat(recordsRead(more)).isEqualTo(11);
    assertThat(more.collectAsList()).containsExactly(RowFactory.create("k997", "v997"));
    assertThat(table.where("key LIKE 'k99%7'").collectAsList())
        .containsExactly(RowFactory.create("k997", "v997"));
    assertThat(recordsRead(table.where("key LIKE 'k99%7'"))).isEqualTo(11);

    assertThat(plan(table.where("key = 'k7' AND key < 'k8'"))).contains("lookups of 1 keys");
    assertNoRange(table.where("key LIKE '%7'"), 100);
    assertNoRange(table.where("key > 'k998' OR key < 'k1'"), 2);
    assertNoRange(table.where("key > value"), 0);
    assertNoRange(table.where("upper(key) > 'K998'"), 1);
  }

  @Test
  void countsAreThoseOfTheOrder() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 1_000, ORDERED.withShards(4));
    Dataset<Row> table = text(database);
    Dataset<Row> counted = table.where("key LIKE 'k99%'").selectExpr("count(*)");
    assertThat(plan(counted)).contains("count of the range key LIKE 'k99%'");
    assertThat(counted.first().getLong(0)).isEqualTo(11);
    assertThat(table.where("key > 'x'").selectExpr("count(*) + 1").first().getLong(0)).isOne();
    Dataset<Row> filtered = table.where("key LIKE 'k99%' AND value > 'v'").selectExpr("count(*)");
    assertThat(plan(filtered)).doesNotContain("count of");
    assertThat(filtered.first().getLong(0)).isEqualTo(11);
    assertThat(table.where("key LIKE 'k9%'").groupBy(col("value").substr(1, 3)).count().count())
        .isEqualTo(11);
    assertThat(table.selectExpr("count(*)").first().getLong(0)).isEqualTo(1_000);

    Dataset<Row> none = text(Stored.plain(directory.resolve("none"), 0, ORDERED.withShards(2)));
    assertThat(none.where("key > 'a'").count()).isZero();
    assertThat(none.where("key > 'a'").collectAsList()).isEmpty();
  }

  @Test
  void withoutAnOrderSparkFilters() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 1_000, BuildOptions.defaults());
    Dataset<Row> table = text(database);
    assertNoRange(table.where("key > 'k998'"), 1);
    assertNoRange(table.where("key LIKE 'k99%'"), 11);
    Dataset<Row> approximate =
        text(
            Stored.plain(
                directory.resolve("approximate"),
                10,
                BuildOptions.defaults().withApproximateWidth(4)));
    assertThatThrownBy(() -> approximate.where("key > 'k'").collect())
        .hasMessageContaining("approximate");
  }

  @Test
  void keysAloneAreReadWithoutRecords() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 1_000, ORDERED);
    damage(database);
    Dataset<Row> range = text(database).where("key LIKE 'k99%'");
    assertThat(range.select("key").distinct().count()).isEqualTo(11);
    assertThat(range.selectExpr("count(*)", "1").first().getLong(0)).isEqualTo(11);
    assertThatThrownBy(range::collect).hasStackTraceContaining("CorruptDatabaseException");
  }

  /** Changes every page of the data files. */
  private static void damage(Path database) throws IOException {
    try (Stream<Path> files = Files.list(database)) {
      for (Path data :
          files.filter(file -> file.getFileName().toString().startsWith("data-")).toList()) {
        byte[] bytes = Files.readAllBytes(data);
        for (int i = 4096 + 100; i < bytes.length - 4096; i += 4096) {
          bytes[i] ^= 1;
        }
        Files.write(data, bytes);
      }
    }
  }

  @Tag("nightly")
  @Test
  void columnsOfRows() throws Exception {
    Dataset<Row> rows =
        SPARK
            .range(0, 2_000, 1, 2)
            .selectExpr(
                "concat('ключ-', id) AS name",
                "id",
                "encode(concat('b', id), 'UTF-8') AS bytes",
                "named_struct('in', concat('s', id)) AS deep",
                "date_add(DATE'1960-01-01', CAST(id AS INT)) AS day");
    rows.write().parquet(directory.resolve("parquet").toString());
    Dataset<Row> parquet = SPARK.read().parquet(directory.resolve("parquet").toString());
    List<String> conditions =
        List.of(
            "name >= 'ключ-19' AND name < 'ключ-2'",
            "bytes > X'62313939' AND bytes <= X'6232'",
            "deep.in LIKE 's199%'",
            "name LIKE 'ключ-1%' AND id % 2 = 0");
    List<String> keys = List.of("name", "bytes", "deep.in", "name");
    for (int i = 0; i < keys.size(); i += Rounds.everything() ? 1 : 2) {
      Path store = directory.resolve("store" + i);
      rows.write()
          .format("bsdb")
          .option("key", keys.get(i))
          .option("shards", 3)
          .option("layout", "packed-compressed")
          .option("ordered", "true")
          .mode("overwrite")
          .save(store.toString());
      Dataset<Row> found =
          reader().option("key", keys.get(i)).load(store.toString()).where(conditions.get(i));
      Dataset<Row> expected = parquet.where(conditions.get(i));
      assertThat(plan(found)).as(keys.get(i)).contains(", range " + keys.get(i));
      assertThat(found.toJSON().collectAsList())
          .containsExactlyInAnyOrderElementsOf(expected.toJSON().collectAsList());
      assertThat(found.count()).isEqualTo(expected.count());
      for (String column : i == 0 ? List.of("name", "bytes", "id", "deep.in") : List.of("id")) {
        assertThat(ShownRows.of(found.select(column)))
            .isEqualTo(ShownRows.of(expected.select(column)));
      }
      assertThat(found.select("_key").count()).isEqualTo(expected.count());
      assertThat(plan(found.selectExpr("count(*)"))).doesNotContain("count of the range");
      assertThat(plan(reader().load(store.toString()).where(conditions.get(i))))
          .contains(", scan of ");
    }
    Dataset<Row> wrong =
        reader().option("key", "deep.in").load(directory.resolve("store0").toString());
    assertThatThrownBy(() -> wrong.where("deep.in > 's1'").count())
        .hasMessageContaining("is not made of deep.in");
  }

  @Tag("nightly")
  @Test
  void numbersAndDatesAreNotInTheOrderOfTheirText() throws Exception {
    Dataset<Row> rows =
        SPARK
            .range(0, 200, 1, 2)
            .selectExpr(
                "id - 100 AS number",
                "CAST(id AS INT) AS small",
                "id / 8 AS half",
                "CAST(id * 1.25 AS DECIMAL(9, 2)) AS amount",
                "date_add(DATE'1960-01-01', CAST(id AS INT) * 500) AS day",
                "CAST(id AS STRING) AS text");
    rows.write().parquet(directory.resolve("parquet").toString());
    List<String> conditions =
        List.of(
            "number >= 9 AND number < 50",
            "small > 9",
            "half BETWEEN 2 AND 10",
            "amount < 100",
            "day > DATE'1999-12-31'");
    for (String condition : conditions) {
      String key = condition.substring(0, condition.indexOf(' '));
      Path database =
          Stored.fromParquet(
              directory.resolve("parquet"),
              directory.resolve(key),
              "-kf",
              key,
              "--ordered",
              "--shards",
              "2");
      Dataset<Row> table = reader().option("key", key).load(database.toString());
      assertNoRange(table.where(condition), rows.where(condition).count());
      // nor does Spark ask for the range of a text that it makes of the column
      assertNoRange(
          table.where("CAST(" + key + " AS STRING) > '5'"),
          rows.where("CAST(" + key + " AS STRING) > '5'").count());
    }
    Path database =
        Stored.fromParquet(
            directory.resolve("parquet"), directory.resolve("text"), "-kf", "text", "--ordered");
    Dataset<Row> table = reader().option("key", "text").load(database.toString());
    assertThat(recordsRead(table.where("text >= '19'")))
        .isEqualTo(rows.where("text >= '19'").count());
    assertNoRange(table.where("text > 19"), 180); // compares numbers
    assertNoRange(
        table.where("text COLLATE UTF8_LCASE > '198'"), rows.where("text > '198'").count());
    assertNoRange(table.where("number > 10"), 89);
  }

  @Tag("nightly")
  @Test
  void keysOfSeveralColumnsAreRangesOfTheirFirst() throws Exception {
    Dataset<Row> rows =
        SPARK
            .range(0, 3_000, 1, 2)
            .selectExpr(
                "concat('c', id % 7, if(id % 3 = 0, '/x', '')) AS country",
                "concat('d', id % 11) AS city", "id");
    Path store = directory.resolve("store");
    rows.write()
        .format("bsdb")
        .option("key", "country,city,id")
        .option("keyJoin", "/")
        .option("shards", 2)
        .option("ordered", true)
        .mode("overwrite")
        .save(store.toString());
    Dataset<Row> table =
        reader().option("key", "country,city,id").option("keyJoin", "/").load(store.toString());
    for (String condition :
        List.of(
            "country = 'c1'",
            "country = 'c1/x'",
            "country = 'c1' AND city = 'd3'",
            "country = 'c1' AND city > 'd3'",
            "country = 'c1' AND city LIKE 'd1%'",
            "country = 'c1' AND city >= 'd3' AND city < 'd5'",
            "country LIKE 'c1%'",
            "country > 'c5'",
            "country >= 'c5' AND city = 'd3'",
            "country = 'c1' AND city = 'd3' AND id > 500",
            "country = 'none'")) {
      List<String> found = ShownRows.of(table.where(condition));
      assertThat(found).as(condition).isEqualTo(ShownRows.of(rows.where(condition)));
      assertThat(table.where(condition).count()).as(condition).isEqualTo(found.size());
      assertThat(recordsRead(table.where(condition))).as(condition).isLessThan(1_000);
    }
    assertThat(recordsRead(table.where("country = 'c1' AND city = 'd3'"))).isLessThan(50);
    assertNoRange(table.where("country < 'c2'"), rows.where("country < 'c2'").count());
    assertNoRange(table.where("city = 'd3'"), rows.where("city = 'd3'").count());
    assertNoRange(table.where("city > 'd3'"), rows.where("city > 'd3'").count());
    assertThat(plan(table.where("country = 'c1' AND city = 'd3' AND id = 500")))
        .contains("lookups of 1 keys");
  }

  @Test
  void storesElsewhereAndTablesOfSql() throws Exception {
    Dataset<Row> rows = SPARK.range(0, 500).selectExpr("concat('u', id) AS id", "id AS age");
    Path store = directory.resolve("store");
    SPARK.sql(
        LocalSpark.create("ranged")
            + " (id STRING, age BIGINT) USING bsdb OPTIONS (key 'id', ordered 'true',"
            + " shards '2', path '"
            + store
            + "')");
    try {
      rows.createOrReplaceTempView("source_of_ranged");
      SPARK.sql("INSERT OVERWRITE ranged SELECT * FROM source_of_ranged");
      Dataset<Row> found = SPARK.sql("SELECT age FROM ranged WHERE id LIKE 'u49%'");
      assertThat(recordsRead(found)).isEqualTo(11);
      assertThat(found.collectAsList()).hasSize(11);
      assertThat(
              SPARK
                  .sql("SELECT count(*) FROM ranged WHERE id >= 'u49' AND id < 'u5'")
                  .first()
                  .getLong(0))
          .isEqualTo(11);
    } finally {
      SPARK.sql(LocalSpark.drop("ranged"));
    }
    Dataset<Row> elsewhere = reader().option("key", "id").load("elsewhere://" + store);
    assertThat(recordsRead(elsewhere.where("id LIKE 'u49%'"))).isEqualTo(11);
    assertThat(elsewhere.where("id LIKE 'u49%'").count()).isEqualTo(11);
    assertThat(elsewhere.where("id < 'u9'").count()).isEqualTo(489);
  }
}
