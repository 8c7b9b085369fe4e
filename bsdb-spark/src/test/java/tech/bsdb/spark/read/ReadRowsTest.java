package tech.bsdb.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.spark.LocalSpark;

/** Tables of rows. */
class ReadRowsTest {
  private static final SparkSession SPARK = LocalSpark.session();

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
            "IF(id % 3 = 0, NULL, named_struct('a', id, 'b c', named_struct('z', NULL, 'l',"
                + " array(map(DATE'2024-02-29', 'leap'))))) AS nested",
            "array() AS nothing",
            "array(named_struct('key', 1, 'value', 'not a map')) AS pairs",
            "id AS `odd näme, with.dot`");
  }

  private static List<String> shown(Dataset<Row> rows) {
    return rows.orderBy("id").toJSON().collectAsList();
  }

  private static void assertSame(Dataset<Row> actual, Dataset<Row> expected) {
    assertThat(actual.schema().asNullable().toDDL()).isEqualTo(expected.schema().toDDL());
    assertThat(shown(actual)).isEqualTo(shown(expected));
    // maps cannot be compared in SQL, but their entries can
    assertThat(actual.selectExpr(hashed()).exceptAll(expected.selectExpr(hashed())).count())
        .isZero();
  }

  private static String[] hashed() {
    return new String[] {
      "id",
      "flag",
      "number",
      "single",
      "wide",
      "amount",
      "large",
      "text",
      "bytes",
      "day",
      "moment",
      "local",
      "list",
      "map_entries(byName) AS n",
      "map_entries(byNumber) AS m",
      "nested.a AS a"
    };
  }

  private static Dataset<Row> read(Path path) {
    return SPARK.read().format("bsdb").load(path.toString());
  }

  @Test
  void rowsOfEveryTypeAreThoseThatWereWritten() throws Exception {
    SPARK.conf().set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS");
    Dataset<Row> rows = everyType().drop("nothing");
    Path database = Stored.rows(rows, directory, "-kf", "id");
    Dataset<Row> expected = SPARK.read().parquet(directory.resolve("parquet").toString());
    Dataset<Row> actual = read(database);
    assertSame(actual, expected);
    assertThat(actual.count()).isEqualTo(200);
    assertThat(actual.select("nested.a", "text").distinct().count()).isGreaterThan(100);
  }

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
  }
}
