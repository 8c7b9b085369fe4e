package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Database;
import tech.bsdb.KeyRange;
import tech.bsdb.Layout;
import tech.bsdb.Sampled;
import tech.bsdb.store.Store;

/** What {@code df.write.format("bsdb")} leaves in the store. */
class WriteTest {
  @TempDir Path dir;

  /** Rows with an id, some text, and a number that repeats. */
  private static Dataset<Row> rows(long count) {
    return LocalSpark.session()
        .range(0, count, 1, 3)
        .selectExpr(
            "concat('user-', id) as id",
            "concat('name ', id * 7919) as name",
            "cast(id % 97 as int) as age",
            "if(id % 5 = 0, null, id * 0.5d) as score");
  }

  private DataFrameWriter<Row> writer(Dataset<Row> rows, int shards) {
    return rows.write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", shards)
        .mode("overwrite");
  }

  private Path store() {
    return dir.resolve("store");
  }

  private Path current() throws IOException {
    return store().resolve(Store.open(store()).current());
  }

  private static Map<String, String> content(Path directory) throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        content.put(
            directory.relativize(file).toString(),
            Arrays.hashCode(Files.readAllBytes(file)) + " " + Files.size(file));
      }
    }
    return content;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5})
  void everyRowIsFound(int shards) throws IOException {
    writer(rows(3_000), shards).save(store().toString());
    try (Database database = Database.open(current())) {
      assertThat(database.statistics().records()).isEqualTo(3_000);
      assertThat(database.statistics().shards()).isEqualTo(shards);
      for (int i = 0; i < 3_000; i += 61) {
        assertThat(database.get(("user-" + i).getBytes(UTF_8))).isNotNull();
      }
      assertThat(Database.verify(current(), (done, total) -> {}).records()).isEqualTo(3_000);
    }
  }

  @Test
  void shardsAreThoseOfBuildParquet() throws Exception {
    rows(2_000).write().parquet(dir.resolve("first").toString());
    // All columns of what Spark reads are nullable, and so they are in the files that it writes.
    Dataset<Row> rows = LocalSpark.session().read().parquet(dir.resolve("first").toString());
    rows.write().parquet(dir.resolve("parquet").toString());
    writer(rows, 3).save(store().toString());
    Path built = dir.resolve("built");
    build(built, "id", 3);
    assertThat(content(current())).isEqualTo(content(built));
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource(Layout.class)
  void otherPartitionsAndAnotherOrderGiveTheSameBytes(Layout layout) throws IOException {
    String name = layout.name().toLowerCase(Locale.ROOT).replace('_', '-');
    Dataset<Row> rows = rows(1_000);
    writer(rows, 3).option("layout", name).option("version", "a").save(store().toString());
    Dataset<Row> others = rows.orderBy(functions.rand(5)).repartition(7);
    writer(others, 3).option("layout", name).option("version", "b").save(store().toString());
    assertThat(content(store().resolve("b"))).isEqualTo(content(store().resolve("a")));
  }

  @Test
  void keysAndRowsOfAllTypesAreThoseOfBuildParquet() throws Exception {
    SparkSession session = LocalSpark.session();
    session.conf().set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS");
    Dataset<Row> rows =
        session
            .range(0, 300, 1, 2)
            .selectExpr(
                "id as k",
                "if(id % 3 = 0, null, cast(id % 127 as tinyint)) as b",
                "cast(-id as smallint) as s",
                "cast(id * 1000003 as int) as i",
                "cast(id as float) / 3 as f",
                "cast(id as double) / -7 as d",
                "cast(id * 1.25 as decimal(7,2)) as dec",
                "if(id % 4 = 1, null, cast(concat(id, '12345678901234567890.5') as decimal(38,3)))"
                    + " as wide",
                "id % 2 = 0 as flag",
                "date_add(date'1969-12-30', cast(id as int)) as day",
                "timestamp_micros(id * 86400000001 - 5000000000) as at",
                "cast(timestamp_micros(id * 1000001) as timestamp_ntz) as local",
                "encode(concat('\u00e9 ', id), 'utf-8') as raw",
                "if(id % 5 = 0, null, array(id, null, id + 1)) as list",
                "map(concat('k', id), id, 'x', null) as text_map",
                "map(cast(id as int), named_struct('p', id, 'q', array('a', null))) as int_map",
                "named_struct('x', id, 'y', named_struct('z', if(id % 2 = 0, null, 'deep'))) as st",
                "named_struct('only', cast(null as string)) as `name with space`");
    rows.write().parquet(dir.resolve("first").toString());
    Dataset<Row> nullable = session.read().parquet(dir.resolve("first").toString());
    nullable.write().parquet(dir.resolve("parquet").toString());
    for (String key : List.of("k", "i", "day", "at", "local", "raw", "dec", "st.x", "d")) {
      Path built = dir.resolve("built-" + key);
      writer(nullable, 2)
          .option("key", key)
          .option("layout", "packed")
          .option("version", key)
          .save(store().toString());
      build(built, key, 2);
      assertThat(content(store().resolve(key))).as(key).isEqualTo(content(built));
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource(Layout.class)
  void theOrderOfTheKeysIsStored(Layout layout) throws IOException {
    String name = layout.name().toLowerCase(Locale.ROOT).replace('_', '-');
    List<String> expected =
        rows(1_000).select("id").as(Encoders.STRING()).collectAsList().stream().sorted().toList();
    for (int shards : new int[] {1, 3}) {
      writer(rows(1_000), shards)
          .option("layout", name)
          .option("ordered", true)
          .save(store().toString());
      List<String> keys = new ArrayList<>();
      try (Database database = Database.open(current());
          Database.RecordCursor records = database.range(KeyRange.all())) {
        while (records.next()) {
          keys.add(new String(records.key(), UTF_8));
        }
      }
      assertThat(keys).isEqualTo(expected);
      assertThat(Database.verify(current(), (done, total) -> {}).records()).isEqualTo(1_000);
    }
  }

  @Test
  void theOrderIsThatOfBuildParquet() throws Exception {
    rows(2_000).write().parquet(dir.resolve("first").toString());
    Dataset<Row> rows = LocalSpark.session().read().parquet(dir.resolve("first").toString());
    rows.write().parquet(dir.resolve("parquet").toString());
    writer(rows, 2).option("layout", "packed").option("ordered", true).save(store().toString());
    build(dir.resolve("built"), "id", 2, "--ordered");
    assertThat(content(current())).isEqualTo(content(dir.resolve("built")));
  }

  private void build(Path target, String key, int shards, String... more) throws Exception {
    List<String> line = new ArrayList<>(List.of(more));
    line.addAll(
        List.of(
            "-i",
            dir.resolve("parquet").toString(),
            "-kf",
            key,
            "-o",
            target.toString(),
            "--shards",
            String.valueOf(shards),
            "--layout",
            "packed",
            "-q"));
    BuildParquet.run(line);
  }

  @Tag("jdk")
  @Test
  void severalColumnsMakeAKeyAndOneColumnTheValue() throws IOException {
    writer(rows(100), 2)
        .option("key", "age, id")
        .option("keyJoin", "|")
        .option("value", "name")
        .save(store().toString());
    try (Database database = Database.open(current())) {
      assertThat(database.get("42|user-42".getBytes(UTF_8)))
          .isEqualTo(("name " + 42 * 7919).getBytes(UTF_8));
      assertThat(database.statistics().valueSchema()).isNull();
    }
  }

  private List<String> left() throws IOException {
    try (Stream<Path> entries = Files.list(store())) {
      return entries.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aDuplicateKeyIsNamedAndTheOldVersionStays() throws IOException {
    writer(rows(50), 2).option("version", "old").save(store().toString());
    Dataset<Row> twice = rows(50).union(rows(50).where("id = 'user-17'"));
    assertThatThrownBy(() -> writer(twice, 2).save(store().toString()))
        .hasMessageContaining("user-17")
        .hasMessageContaining("onDuplicate");
    assertThat(Store.open(store()).current()).isEqualTo("old");
    assertThat(left()).containsExactly("CURRENT", "old");
  }

  @ParameterizedTest
  @ValueSource(strings = {"first", "last"})
  void aColumnDecidesBetweenDuplicates(String kept) throws IOException {
    Dataset<Row> rows =
        LocalSpark.session()
            .range(0, 400, 1, 4)
            .selectExpr("concat('k', id % 100) as id", "cast(id * 31 % 401 as int) as at");
    Map<String, Integer> expected = new TreeMap<>();
    for (Row row : rows.collectAsList()) {
      expected.merge(row.getString(0), row.getInt(1), kept.equals("last") ? Math::max : Math::min);
    }
    writer(rows.selectExpr("id", "cast(at as string) as text", "at"), 3)
        .option("value", "text")
        .option("onDuplicate", kept)
        .option("orderBy", "at")
        .save(store().toString());
    try (Database database = Database.open(current())) {
      for (Map.Entry<String, Integer> entry : expected.entrySet()) {
        assertThat(database.get(entry.getKey().getBytes(UTF_8)))
            .isEqualTo(entry.getValue().toString().getBytes(UTF_8));
      }
      assertThat(database.statistics().records()).isEqualTo(100);
      assertThat(database.statistics().duplicatesDropped()).isEqualTo(300);
    }
  }

  private static Dataset<Row> rowsOfWhichSomeAreBad() {
    return LocalSpark.session()
        .range(0, 1_000, 1, 3)
        .selectExpr(
            "case when id % 10 = 3 then null when id % 100 = 7 then ''"
                + " when id = 500 then repeat('x', 70000) else concat('k', id) end as id",
            "id as value");
  }

  @Test
  void badRowsFailTheWrite() throws IOException {
    assertThatThrownBy(() -> writer(rowsOfWhichSomeAreBad(), 2).save(store().toString()))
        .hasStackTraceContaining("null key (column id)")
        .hasStackTraceContaining("onBadRow");
    assertThat(left()).isEmpty();
  }

  @Test
  void badRowsAreLeftOutAndCounted() throws IOException {
    Path report = dir.resolve("report.json");
    writer(rowsOfWhichSomeAreBad(), 2)
        .option("onBadRow", "skip")
        .option("report", report.toString())
        .save(store().toString());
    assertThat(Files.readString(report))
        .contains("\"records\":889")
        .contains("\"rowsLeftOut\":111")
        .contains("\"null key\":100")
        .contains("\"empty key\":10")
        .contains("\"key longer than 65535 bytes\":1");
    try (Database database = Database.open(current())) {
      assertThat(database.statistics().records()).isEqualTo(889);
    }
  }

  @Test
  void aTableWithoutRowsIsADatabaseWithoutRecords() throws IOException {
    writer(rows(10).where("age > 1000"), 3).save(store().toString());
    try (Database database = Database.open(current())) {
      assertThat(database.statistics().records()).isZero();
      assertThat(database.statistics().shards()).isEqualTo(3);
    }
  }

  @Test
  void onlyTheFirstVersionCanBeAppended() throws IOException {
    writer(rows(10), 1).mode("append").option("version", "one").save(store().toString());
    assertThatThrownBy(() -> writer(rows(10), 1).mode("append").save(store().toString()))
        .hasMessageContaining("mode(\"overwrite\")");
    assertThat(left()).containsExactly("CURRENT", "one");
  }

  @Test
  void oldVersionsAreRemoved() throws IOException {
    for (int i = 1; i <= 4; i++) {
      writer(rows(10 * i), 2).option("keep", 1).option("version", "v" + i).save(store().toString());
    }
    assertThat(left()).containsExactly("CURRENT", "v3", "v4");
  }

  @Test
  void mistakesAreExplained() {
    assertThatThrownBy(() -> writer(rows(1), 1).option("kee", 1).save(store().toString()))
        .hasMessageContaining("unknown option kee, did you mean");
    assertThatThrownBy(() -> writer(rows(1), 1).option("key", "idd").save(store().toString()))
        .hasMessageContaining("there is no column idd, did you mean id?");
    assertThatThrownBy(() -> writer(rows(1), 0).save(store().toString()))
        .hasMessageContaining("shards is 0, not in 1 to 16384");
    assertThatThrownBy(
            () -> writer(rows(1), 1).option("onDuplicate", "last").save(store().toString()))
        .hasMessageContaining("orderBy");
    assertThatThrownBy(() -> writer(rows(1), 1).option("layout", "tight").save(store().toString()))
        .hasMessageContaining("layout is tight, not one of blocked, compact,");
    assertThatThrownBy(
            () ->
                writer(rows(1), 1)
                    .option("ordered", true)
                    .option("approximateWidth", 8)
                    .save(store().toString()))
        .hasMessageContaining("ordered and approximateWidth cannot be combined");
    assertThatThrownBy(() -> writer(rows(1), 1).option("ordered", "yes").save(store().toString()))
        .hasMessageContaining("ordered is yes, not true or false");
    assertThat(store()).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "hash,ptr,packed,has no effect in the layout packed",
    "checksumBits,4,packed-compressed,has no effect in the layout packed-compressed",
    "blockSize,4096,blocked,needs a layout that compresses",
    "level,9,compact,needs a layout that compresses",
    "sampleRecords,100,packed,needs a layout that compresses",
    "dictionaryBytes,0,blocked,needs a layout that compresses",
  })
  void optionsWithoutEffectAreErrors(String option, String value, String layout, String why) {
    DataFrameWriter<Row> writer = writer(rows(1), 1).option("layout", layout).option(option, value);
    assertThatThrownBy(() -> writer.save(store().toString()))
        .hasMessageStartingWith(option + " " + why);
    assertThat(store()).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({"layout,blocked", "dataFiles,2"})
  void approximateDatabasesHaveNoRecordsToStore(String option, String value) {
    DataFrameWriter<Row> writer =
        writer(rows(1), 1).option("approximateWidth", 8).option(option, value);
    assertThatThrownBy(() -> writer.save(store().toString()))
        .hasMessageStartingWith(option + " and approximateWidth cannot be combined");
  }

  @Test
  void tablesAreNotPartitioned() {
    String path = store().toString();
    assertThatThrownBy(() -> writer(rows(9), 1).partitionBy("age").save(path))
        .hasMessageStartingWith("bsdb cannot store a table by age: leave out partitionBy");
    assertThat(store()).doesNotExist();
  }

  @Test
  void tablesOfTheCatalogAreNotPartitioned() {
    LocalSpark.assumeSpark4("tables of bsdb in its catalog");
    String path = store().toString();
    DataFrameWriter<Row> byAge = writer(rows(9), 1).option("path", path).partitionBy("age");
    assertThatThrownBy(() -> byAge.saveAsTable("by_age"))
        .hasMessageStartingWith("bsdb cannot store a table by age: leave out partitionBy");
    DataFrameWriter<Row> inBuckets =
        writer(rows(9), 1).option("path", path).bucketBy(2, "age").sortBy("id");
    assertThatThrownBy(() -> inBuckets.saveAsTable("in_buckets"))
        .hasMessageContaining("bsdb cannot store a table by sorted_bucket(");
    requireNoTable("PARTITIONED BY (age)");
    requireNoTable("CLUSTERED BY (age) INTO 2 BUCKETS");
    assertThat(store()).doesNotExist();
  }

  @Test
  void tablesAreNotClustered() {
    LocalSpark.assumeSpark4("clusterBy");
    DataFrameWriter<Row> clustered =
        writer(rows(9), 1).option("path", store().toString()).clusterBy("age");
    assertThatThrownBy(() -> clustered.saveAsTable("clustered"))
        .hasMessageContaining("bsdb cannot store a table by cluster_by(age)");
    requireNoTable("CLUSTER BY (age)");
    assertThat(store()).doesNotExist();
  }

  private void requireNoTable(String by) {
    String table =
        "CREATE TABLE divided (id STRING, age INT) USING bsdb OPTIONS (key 'id', path '"
            + store()
            + "') "
            + by;
    assertThatThrownBy(() -> LocalSpark.session().sql(table))
        .as(by)
        .hasMessageContaining("bsdb cannot store a table by ");
    assertThat(LocalSpark.session().catalog().tableExists("divided")).isFalse();
  }

  @Test
  void tablesOfACatalogThatArePartitionedStillLoad() {
    StructType schema = rows(0).schema();
    Transform[] byAge = {Expressions.identity("age")};
    Map<String, String> stored = Map.of("owner", "me", "path", store().toString(), "key", "id");
    assertThat(new BsdbSource().getTable(schema, byAge, stored)).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aVersionThatWasWrittenBeforeIsWrittenOnce(int shards) throws IOException {
    writer(rows(100), shards).option("version", "batch-0").save(store().toString());
    writer(rows(200), shards).option("version", "batch-1").save(store().toString());
    Map<String, String> written = content(store());
    Files.writeString(current().resolve(".pushing"), "spark of a driver that was killed\n");
    Path report = dir.resolve("report.json");
    writer(rows(200).repartition(5), shards)
        .option("version", "batch-1")
        .option("report", report.toString())
        .save(store().toString());
    assertThat(content(store())).isEqualTo(written);
    assertThat(Files.readString(report))
        .contains("\"version\":\"batch-1\",\"previous\":\"batch-0\"")
        .contains("\"records\":200");
    writer(rows(200), shards).mode("append").option("version", "batch-1").save(store().toString());
    assertThat(content(store())).isEqualTo(written);

    for (DataFrameWriter<Row> other :
        List.of(
            writer(rows(199), shards).option("version", "batch-1"),
            writer(rows(200), shards + 1).option("version", "batch-1"),
            writer(rows(100), shards).option("version", "batch-0"))) { // which is not current
      assertThatThrownBy(() -> other.save(store().toString()))
          .hasMessageContaining("a version with this name already exists")
          .hasMessageContaining(".option(\"version\", NAME); the store's current version");
      assertThat(content(store())).isEqualTo(written);
    }
  }

  @Test
  void aVersionThatLacksAFileIsNotTheSame() throws IOException {
    writer(rows(100), 1).option("version", "one").save(store().toString());
    try (Stream<Path> files = Files.list(current())) {
      Files.delete(
          files.filter(file -> file.getFileName().toString().startsWith("data-")).findAny().get());
    }
    assertThatThrownBy(() -> writer(rows(100), 1).option("version", "one").save(store().toString()))
        .hasMessageContaining("is not what this write would store");
  }

  @Test
  void aStoreInsideAStoreIsRefused() {
    writer(rows(1), 1).save(store().toString());
    assertThatThrownBy(() -> writer(rows(1), 1).save(store().resolve("x").toString()))
        .hasMessageContaining("lies inside another store")
        .hasMessageContaining("use .option(\"version\", NAME)");
  }

  @Test
  void aBatchOfAStreamThatRunsAgainIsDone() throws Exception {
    Path input = dir.resolve("input");
    rows(100).write().parquet(input.toString());
    Path checkpoint = dir.resolve("checkpoint");
    stream(input, checkpoint);
    assertThat(left()).containsExactly("CURRENT", "batch-0");
    Map<String, String> written = content(store());
    Files.delete(checkpoint.resolve("commits/0")); // as if the driver had died before it
    Files.deleteIfExists(checkpoint.resolve("commits/.0.crc"));
    stream(input, checkpoint);
    assertThat(checkpoint.resolve("commits/0")).exists();
    assertThat(content(store())).isEqualTo(written);
  }

  private void stream(Path input, Path checkpoint) throws Exception {
    VoidFunction2<Dataset<Row>, Long> write =
        (batch, number) ->
            writer(batch, 2).option("version", "batch-" + number).save(store().toString());
    SparkSession session = LocalSpark.interpreting();
    // The option would be another method in Spark 3.5.
    session.conf().set("spark.sql.streaming.checkpointLocation", checkpoint.getParent().toString());
    session
        .readStream()
        .schema(rows(0).schema())
        .parquet(input.toString())
        .writeStream()
        .queryName(checkpoint.getFileName().toString())
        .foreachBatch(write)
        .trigger(Trigger.AvailableNow())
        .start()
        .awaitTermination();
  }
}
