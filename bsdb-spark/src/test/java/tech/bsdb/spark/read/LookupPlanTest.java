package tech.bsdb.spark.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.spark.LocalSpark;

/** Filters on keys are lookups. */
class LookupPlanTest {
  private static final SparkSession SPARK = LocalSpark.session();

  @TempDir Path directory;

  private static String plan(Dataset<Row> rows) {
    return rows.queryExecution().optimizedPlan() + "\n" + rows.queryExecution().executedPlan();
  }

  private static void assertLookups(Dataset<Row> rows, int keys, int found) {
    assertThat(plan(rows)).contains("lookups of " + keys + " keys");
    assertThat(rows.count()).isEqualTo(found);
  }

  private static void assertScan(Dataset<Row> rows, int found) {
    assertThat(plan(rows)).contains("scan of").doesNotContain("lookups of");
    assertThat(rows.count()).isEqualTo(found);
  }

  private static DataFrameReader reader() {
    return SPARK.read().format("bsdb");
  }

  @Test
  void columnsOfBytes() throws Exception {
    Path database =
        Stored.plain(directory.resolve("db"), 1_000, BuildOptions.defaults().withShards(4));
    Dataset<Row> binary = reader().load(database.toString());
    assertThat(binary.schema().toDDL()).isEqualTo("key BINARY NOT NULL,value BINARY NOT NULL");
    assertLookups(binary.where("key = CAST('k7' AS BINARY)"), 1, 1);
    assertThat((byte[]) binary.where("key = X'6B37'").first().get(1))
        .isEqualTo("v7".getBytes(UTF_8));
    assertThat((byte[]) binary.where("_key = X'6B37'").select("_key").first().get(0))
        .isEqualTo("k7".getBytes(UTF_8));

    Dataset<Row> text =
        reader()
            .option("keyType", "string")
            .option("valueType", "string")
            .load(database.toString());
    assertLookups(text.where("key = 'k999'"), 1, 1);
    assertLookups(text.where("key = 'absent'"), 1, 0);
    assertLookups(text.where("key IN ('k1', 'k2', 'k3', 'none', NULL)"), 4, 3);
    assertLookups(text.where("key = 'k1' OR key IN ('k2', 'k1')"), 2, 2);
    assertLookups(text.where("key = 'k1' AND value = 'other'"), 1, 0);
    assertThat(text.where("key = 'k5'").first().getString(1)).isEqualTo("v5");
    assertThat(text.where("key = NULL").count()).isZero();
    assertScan(text.where("key > 'k998' AND value LIKE 'v%'"), 1);
    assertScan(text.where("key = 'k1' OR value = 'v2'"), 2);
    String many =
        IntStream.range(0, 1_500).mapToObj(i -> "'k" + i + "'").collect(Collectors.joining(", "));
    Dataset<Row> splits = text.where("key IN (" + many + ")");
    assertLookups(splits, 1_500, 1_000);
    assertThat(splits.rdd().getNumPartitions()).isEqualTo(4);
  }

  @Test
  void columnsOfRows() throws Exception {
    Dataset<Row> rows =
        SPARK.range(300).selectExpr("concat('c', id % 3) AS country", "id", "id / 2D AS half");
    Path database =
        Stored.rows(rows, directory, "-kf", "country,id", "--key-join", "|", "--shards", "2");
    Dataset<Row> table =
        reader().option("key", "country, id").option("keyJoin", "|").load(database.toString());
    assertLookups(table.where("country = 'c1' AND id = 4"), 1, 1);
    assertLookups(table.where("country IN ('c1', 'c2') AND id IN (4, 5, 1000)"), 6, 2);
    assertLookups(table.where("_key = CAST('c0|3' AS BINARY)"), 1, 1);
    assertScan(table.where("id = 4"), 1);
    assertThat(table.where("country = 'c1' AND id = 4").first().getDouble(2)).isEqualTo(2.0);
    assertThat(table.columns()).containsExactly("country", "id", "half");
    assertThat(new String(table.where("id = 4").select("_key").first().getAs(0), UTF_8))
        .isEqualTo("c1|4");

    Dataset<Row> wrong = reader().option("key", "id").load(database.toString());
    assertThatThrownBy(() -> wrong.where("id = 4").collect())
        .hasMessageContaining("is not made of id")
        .hasMessageContaining("option key");
    Dataset<Row> apart = reader().option("key", "country,id").load(database.toString());
    assertThatThrownBy(() -> apart.where("id = 4").collect())
        .hasMessageContaining("there is no column country,id (several columns need keyJoin)");
  }

  @Tag("nightly")
  @Test
  void keysOfEveryTypeThatHasText() throws Exception {
    SPARK.conf().set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS");
    List<String> types =
        List.of(
            "CAST(id AS INT)",
            "id - 50",
            "CAST(id - 0.25 AS DECIMAL(12, 3))",
            "date_add(DATE'1960-01-01', CAST(id AS INT) * 500)",
            "timestamp_micros(id * 1234567890123 - 7)",
            "CAST(id / 8 AS DOUBLE) - 2",
            "CAST(id / 8 AS FLOAT)",
            "concat('ключ', id)",
            "encode(concat('b', id), 'UTF-8')");
    String[] columns = new String[types.size()];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = types.get(i) + " AS k" + i;
    }
    Dataset<Row> rows = SPARK.range(0, 40, 1, 1).selectExpr(columns);
    Path parquet = directory.resolve("parquet");
    rows.write().parquet(parquet.toString());
    Row wanted = rows.collectAsList().get(16);
    for (int i = 0; i < columns.length; i++) {
      String key = "k" + i;
      Path database = Stored.fromParquet(parquet, directory.resolve("db" + i), "-kf", key);
      Dataset<Row> table = reader().option("key", key).load(database.toString());
      Dataset<Row> found =
          table.where(org.apache.spark.sql.functions.col(key).equalTo(wanted.get(i)));
      assertThat(plan(found))
          .contains("lookups of " + (key.equals("k5") ? 3 : key.equals("k6") ? 2 : 1) + " keys");
      assertThat(found.collectAsList()).hasSize(1);
      assertThat(found.select("k0").first().getInt(0)).isEqualTo(16);
    }
  }

  @Test
  void aDoubleIsFoundThatWasAFloat() throws Exception {
    Path parquet = directory.resolve("parquet");
    SPARK
        .sql("SELECT CAST('0.1' AS FLOAT) AS id, 'float' AS v")
        .coalesce(1)
        .write()
        .parquet(parquet.resolve("a").toString());
    SPARK
        .sql(
            "SELECT CAST('0.25' AS DOUBLE) AS id, 'double' AS v UNION ALL SELECT CAST(3 AS DOUBLE), 'x'")
        .coalesce(1)
        .write()
        .parquet(parquet.resolve("b").toString());
    Path database = Stored.fromParquet(parquet, directory.resolve("db"), "-kf", "id");
    Dataset<Row> table = reader().option("key", "id").load(database.toString());

    assertLookups(table.where("id = 0.10000000149011612D"), 2, 1);
    assertLookups(table.where("id = 0.25D"), 1, 1);
    assertLookups(table.where("id = 0.1D"), 1, 0);
    assertLookups(table.where("id = 3D"), 2, 1);
    assertLookups(table.where("id = double('Infinity')"), 1, 0);
    assertScan(table.where("id = 1e17D"), 0); // several integers may have been rounded to it
  }

  @Test
  void countsAreThoseOfTheManifest() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 77, BuildOptions.defaults());
    Dataset<Row> table = reader().load(database.toString());
    Dataset<Row> counted = table.selectExpr("count(*)");
    assertThat(plan(counted)).contains("LocalTableScan").doesNotContain("scan of");
    assertThat(counted.first().getLong(0)).isEqualTo(77);
    assertThat(table.where("value = X'7636'").count()).isEqualTo(1);
    assertThat(table.selectExpr("count(*)", "max(key)").first().getLong(0)).isEqualTo(77);
    SPARK.conf().set("spark.sql.cbo.planStats.enabled", true); // Spark 4.3 counts only then
    try {
      Dataset<Row> again = reader().load(database.toString());
      assertThat(again.queryExecution().optimizedPlan().stats().rowCount().get().toLong())
          .isEqualTo(77);
    } finally {
      SPARK.conf().unset("spark.sql.cbo.planStats.enabled");
    }
  }

  @Test
  void approximateDatabasesAreLookedUpOnly() throws Exception {
    BuildOptions options =
        BuildOptions.defaults().withApproximateWidth(4).withLayout(Layout.BLOCKED);
    Path database = Stored.plain(directory.resolve("db"), 50, options);
    Dataset<Row> table =
        reader()
            .option("keyType", "string")
            .option("valueType", "string")
            .load(database.toString());
    assertThat(table.where("key = 'k7'").first().getString(1)).isEqualTo("v7");
    assertThatThrownBy(table::collect).hasMessageContaining("approximate");
    assertThat(table.count()).isEqualTo(50);
  }
}
