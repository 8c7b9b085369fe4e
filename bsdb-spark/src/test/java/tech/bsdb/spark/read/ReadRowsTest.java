package tech.bsdb.spark.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Sampled;
import tech.bsdb.spark.LocalSpark;
import tech.bsdb.tools.rows.RowBuffer;

/** Tables of rows. */
class ReadRowsTest {
  private static final SparkSession SPARK = LocalSpark.session();
  private static final boolean HAS_SPARK_41 = SPARK.version().compareTo("4.1") >= 0;

  @TempDir Path directory;

  /** Rows with a value of every type that Parquet and Spark share. */
  private static Dataset<Row> everyType() {
    return SPARK
        .range(0, 200, 1, 3)
        .selectExpr(
            "id",
            "id % 2 = 0 AS flag",
            "CAST(id AS INT) AS number",
            "CAST(id / 3 AS FLOAT) AS single",
            "id / 7D AS wide",
            "CAST(id - 100.5 AS DECIMAL(10, 2)) AS amount",
            "CAST(concat('-1234567890123456789', id) AS DECIMAL(38, 4)) AS large",
            "IF(id % 5 = 0, NULL, concat('naïve 漢字 😀 ', id)) AS text",
            "encode(concat('b', id), 'UTF-8') AS bytes",
            "date_add(DATE'1969-12-30', CAST(id AS INT)) AS day",
            "timestamp_micros(id * 1234567 - 50000001) AS moment",
            "CAST(timestamp_micros(id * 7654321 - 90000001) AS TIMESTAMP_NTZ) AS local",
            "IF(id % 7 = 0, NULL, array(id, NULL, id * 2)) AS list",
            "map('a', id, 'ключ', NULL) AS byName",
            "map(CAST(id AS INT), named_struct('x', 'deep', 'y', array(1.5D)), -1, NULL) AS byNumber",
            "IF(id % 3 = 0, NULL, named_struct('a', id, 'b c', named_struct('z', "
                + (HAS_SPARK_41 ? "NULL" : "CAST(NULL AS INT)") // no column of Parquet before
                + ", 'l', array(map(DATE'2024-02-29', 'leap'))))) AS nested",
            "array() AS nothing",
            "array(named_struct('key', 1, 'value', 'not a map')) AS pairs",
            "id AS `odd näme, with.dot`");
  }

  private static List<String> shown(Dataset<Row> rows) {
    return rows.toJSON().collectAsList().stream().sorted().toList();
  }

  private static void assertSame(Dataset<Row> actual, Dataset<Row> expected) {
    assertThat(actual.schema().asNullable().toDDL()).isEqualTo(expected.schema().toDDL());
    assertThat(shown(actual)).isEqualTo(shown(expected));
    assertThat(actual.collectAsList())
        .containsExactlyInAnyOrderElementsOf(expected.collectAsList());
  }

  private static Dataset<Row> read(Path path) {
    return SPARK.read().format("bsdb").load(path.toString());
  }

  @Tag("jdk")
  @Test
  void rowsOfEveryTypeAreThoseThatWereWritten() throws Exception {
    SPARK.conf().set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS");
    Dataset<Row> rows = everyType().drop("nothing");
    Path database = Stored.rows(rows, directory, "-kf", "id");
    Dataset<Row> expected = SPARK.read().parquet(directory.resolve("parquet").toString());
    Dataset<Row> actual = read(database);
    assertSame(actual, expected);
    assertThat(actual.count()).isEqualTo(200);
    assertThat(actual.where("nested.a = 7").select("nested.`b c`.l", "text").collectAsList())
        .isEqualTo(expected.where("id = 7").select("nested.`b c`.l", "text").collectAsList());
  }

  @Test
  void typesThatSparkDoesNotWrite() throws Exception {
    String schema =
        """
        {"type": "record", "name": "r", "fields": [
          {"name": "ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
          {"name": "ns", "type": {"type": "long", "logicalType": "timestamp-nanos"}},
          {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-nanos"}},
          {"name": "id", "type": {"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"}},
          {"name": "span", "type": {"type": "fixed", "name": "d", "size": 12, "logicalType": "duration"}},
          {"name": "fix", "type": {"type": "fixed", "name": "f", "size": 2}},
          {"name": "color", "type": {"type": "enum", "name": "e", "symbols": ["RED", "BLUE"]}},
          {"name": "any", "type": ["null", "int", "string"]}]}""";
    RowBuffer row = new RowBuffer();
    row.putLong(-1);
    row.putLong(-1);
    row.putLong(1_999);
    row.put(HexFormat.of().parseHex("00000000000000000000000000000007"), 0, 16);
    row.put(HexFormat.of().parseHex("0E00000003000000DC050000"), 0, 12);
    row.put(new byte[] {1, 2}, 0, 2);
    row.putLong(1);
    row.putLong(1);
    row.putLong(5);
    Dataset<Row> table = read(stored(schema, row));
    assertThat(table.schema().toDDL())
        .isEqualTo(
            "ms TIMESTAMP NOT NULL,ns TIMESTAMP NOT NULL,local TIMESTAMP_NTZ NOT NULL,"
                + "id STRING NOT NULL,span STRING NOT NULL,"
                + "fix BINARY NOT NULL,color STRING NOT NULL,"
                + "any STRUCT<member0: INT, member1: STRING>");
    Row read =
        table
            .selectExpr(
                "unix_micros(ms)",
                "unix_micros(ns)",
                "CAST(local AS STRING)",
                "id",
                "span",
                "hex(fix)",
                "color",
                "any.member0",
                "any.member1")
            .first();
    assertThat(read.toString())
        .isEqualTo(
            "[-1000,-1,1970-01-01 00:00:00.000001,"
                + "00000000-0000-0000-0000-000000000007,P14M3DT1.500S,0102,BLUE,5,null]");
  }

  @Test
  void timesOfDay() throws Exception {
    String schema =
        """
        {"type": "record", "name": "r", "fields": [
          {"name": "time", "type": {"type": "long", "logicalType": "time-nanos"}}]}""";
    RowBuffer row = new RowBuffer();
    row.putLong(1_001);
    Path database = stored(schema, row);
    if (!HAS_SPARK_41) {
      assertThatThrownBy(() -> read(database))
          .hasMessageContaining("the rows have times of day, for which Spark has a type since 4.1");
      return;
    }
    Dataset<Row> table = read(database);
    assertThat(table.schema().toDDL()).isEqualTo("time TIME(6) NOT NULL");
    assertThat(table.selectExpr("CAST(time AS STRING)").first().getString(0))
        .isEqualTo("00:00:00.000001");
  }

  private Path stored(String schema, RowBuffer row) throws Exception {
    Path database = directory.resolve("typed");
    BuildOptions options = BuildOptions.defaults().withValueSchema(schema.replace("\n", ""));
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, options)) {
      builder.add(new byte[] {1}, row.copy());
      builder.finish();
    }
    return database;
  }

  @Sampled(3)
  @ParameterizedTest
  @ValueSource(strings = {"blocked", "compact", "compressed", "packed", "packed-compressed"})
  void everyLayoutAndSetsOfShards(String layout) throws Exception {
    Dataset<Row> rows = SPARK.range(500).selectExpr("id", "repeat('x', CAST(id AS INT)) AS text");
    Path database = Stored.rows(rows, directory, "-kf", "id", "--layout", layout, "--shards", "3");
    Dataset<Row> actual = read(database);
    assertThat(shown(actual)).isEqualTo(shown(rows));
    assertThat(actual.rdd().getNumPartitions()).isEqualTo(3);
    assertThat(actual.selectExpr("sum(length(text))").first().getLong(0)).isEqualTo(499 * 250);
    assertThat(actual.where("id % 2 = 0").count()).isEqualTo(250);
    SPARK.conf().set("spark.sql.files.maxPartitionBytes", "20000");
    try {
      Dataset<Row> parts = read(database);
      assertThat(parts.rdd().getNumPartitions()).isGreaterThan(3);
      assertThat(shown(parts)).isEqualTo(shown(rows));
    } finally {
      SPARK.conf().unset("spark.sql.files.maxPartitionBytes");
    }
  }
}
