package tech.bsdb.spark.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.spark.LocalSpark;

/**
 * Where tables are: stores, databases and sets, here and elsewhere, and what can be wrong there.
 */
class TablePlacesTest {
  private static final SparkSession SPARK = LocalSpark.session();

  @TempDir Path directory;

  private static DataFrameReader reader() {
    return SPARK.read().format("bsdb").option("keyType", "string").option("valueType", "string");
  }

  private static Dataset<Row> read(Object path) {
    return reader().load(path.toString());
  }

  private static void delete(Path path) throws IOException {
    try (Stream<Path> all = Files.walk(path)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  /** Changes a byte in the middle of a data file. */
  private static void damage(Path database) throws IOException {
    try (Stream<Path> files = Files.list(database)) {
      Path data =
          files.filter(file -> file.getFileName().toString().startsWith("data-")).findFirst().get();
      byte[] bytes = Files.readAllBytes(data);
      bytes[4096 + 100] ^= 1;
      Files.write(data, bytes);
    }
  }

  private Path store() throws Exception {
    Path store = directory.resolve("store");
    Stored.publish(Stored.plain(directory.resolve("a"), 10, BuildOptions.defaults()), store, "one");
    return store;
  }

  @Test
  void aQueryReadsTheVersionThatWasCurrentWhenItWasPlanned() throws Exception {
    Path store = store();
    Dataset<Row> planned = read(store);
    assertThat(planned.queryExecution().executedPlan().toString()).contains("version one");
    Stored.publish(Stored.plain(directory.resolve("b"), 20, BuildOptions.defaults()), store, "two");
    assertThat(planned.queryExecution().executedPlan().executeCollect()).hasSize(10);
    assertThat(read(store).collectAsList()).hasSize(20);
    delete(store.resolve("one"));
    assertThatThrownBy(() -> planned.queryExecution().toRdd().count())
        .hasMessageContaining("is no longer there")
        .hasMessageContaining("keep more versions");
  }

  @Test
  void aDatabaseThatWasReplacedIsNotMistakenForTheOldOne() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 10, BuildOptions.defaults());
    Dataset<Row> planned = read(database);
    assertThat(planned.queryExecution().executedPlan().toString()).contains("scan of");
    Stored.plain(database, 11, BuildOptions.defaults().withOverwrite(true));
    assertThatThrownBy(() -> planned.queryExecution().toRdd().count())
        .hasMessageContaining("is no longer there");
  }

  @Test
  void databasesElsewhereAreBroughtOnce() throws Exception {
    Path database =
        Stored.plain(directory.resolve("db"), 500, BuildOptions.defaults().withShards(3));
    Path store = directory.resolve("store");
    Stored.publish(database, store, "one");
    Dataset<Row> table = read("elsewhere://" + store);
    assertThat(table.collectAsList()).hasSize(500);
    assertThat(table.where("key IN ('k1', 'k2', 'k3', 'k4', 'k5')").count()).isEqualTo(5);
    delete(store.resolve("one")); // what was brought is still here
    assertThat(table.queryExecution().toRdd().count()).isEqualTo(500);
  }

  @Test
  void damageElsewhereIsAnErrorThatNamesTheFile() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 501, BuildOptions.defaults());
    damage(database);
    Dataset<Row> table = read(database);
    assertThatThrownBy(table::collectAsList).hasMessageContaining("data-000-");
  }

  @Test
  void aVersionElsewhereThatVanishedIsAnErrorThatSaysSo() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 502, BuildOptions.defaults());
    Path store = directory.resolve("store");
    Stored.publish(database, store, "one");
    Dataset<Row> table = read("elsewhere://" + store);
    assertThat(table.queryExecution().executedPlan().toString()).contains("version one");
    delete(store.resolve("one"));
    assertThatThrownBy(() -> table.queryExecution().toRdd().count())
        .hasMessageContaining("is no longer there");
  }

  @Test
  void tablesOfTheCatalog() throws Exception {
    Path store = store();
    SPARK.sql(
        "CREATE TABLE plain USING bsdb OPTIONS (path '"
            + store
            + "', keyType 'string', valueType 'string')");
    SPARK.sql("CREATE TABLE placed USING bsdb OPTIONS (keyType 'string') LOCATION '" + store + "'");
    try {
      if (LocalSpark.isSpark3()) {
        assertThatThrownBy(() -> SPARK.sql("SELECT value FROM plain"))
            .hasStackTraceContaining("use CREATE TEMPORARY VIEW instead of CREATE TABLE");
        assertThatThrownBy(() -> SPARK.sql("INSERT OVERWRITE placed VALUES ('k', 'v')"))
            .hasStackTraceContaining("use CREATE TEMPORARY VIEW instead of CREATE TABLE");
        return;
      }
      assertThat(SPARK.sql("SELECT value FROM plain WHERE key = 'k3'").first().getString(0))
          .isEqualTo("v3");
      assertThat(SPARK.sql("SELECT count(*) FROM plain").first().getLong(0)).isEqualTo(10);
      assertThat(SPARK.sql("SELECT key FROM placed WHERE _key = X'6B34'").first().getString(0))
          .isEqualTo("k4");
      assertThat(SPARK.sql("SELECT * FROM placed").columns()).containsExactly("key", "value");
    } finally {
      SPARK.sql("DROP TABLE plain");
      SPARK.sql("DROP TABLE placed");
    }
    assertThat(Files.exists(store.resolve("CURRENT"))).isTrue();
  }

  @Test
  void viewsOfSql() throws Exception {
    String options = " USING bsdb OPTIONS (key 'id', path '" + directory.resolve("viewed") + "')";
    SPARK.sql("CREATE TEMPORARY VIEW declared (id STRING, age BIGINT)" + options);
    try {
      SPARK.sql("INSERT OVERWRITE declared SELECT concat('u', id), id FROM range(9)");
      assertThat(SPARK.sql("SELECT age FROM declared WHERE id = 'u7'").first().getLong(0))
          .isEqualTo(7);
      SPARK.sql("CREATE OR REPLACE TEMPORARY VIEW declared" + options);
      Dataset<Row> found = SPARK.sql("SELECT age FROM declared WHERE id = 'u8'");
      assertThat(found.queryExecution().executedPlan().toString()).contains("lookups of 1 keys");
      assertThat(found.first().getLong(0)).isEqualTo(8);
    } finally {
      SPARK.sql("DROP VIEW declared");
    }
  }

  @Test
  void declaredColumnsAreSomeOfThoseThatAreStored() throws Exception {
    Dataset<Row> rows =
        SPARK.range(40).selectExpr("id", "CAST(id AS INT) AS small", "'x' AS text", "null AS no");
    Path database = Stored.rows(rows.drop("no"), directory, "-kf", "id");
    DataFrameReader reader = SPARK.read().format("bsdb");
    Dataset<Row> some = reader.schema("text STRING, small SMALLINT").load(database.toString());
    assertThat(some.columns()).containsExactly("text", "small");
    assertThat(some.where("small = 7").first().getShort(1)).isEqualTo((short) 7);
    assertThatThrownBy(() -> reader.schema("smal INT").load(database.toString()).collect())
        .hasMessageContaining("no column smal, did you mean small?");
    assertThatThrownBy(() -> reader.schema("id STRING").load(database.toString()).collect())
        .hasMessageContaining("column id")
        .hasMessageContaining("cannot be read as id STRING");
  }

  @Test
  void whatIsNotThereIsToldPlainly() throws Exception {
    assertThatThrownBy(() -> read(directory.resolve("missing")))
        .hasMessageContaining("missing: is neither a store nor a database");
    assertThatThrownBy(() -> SPARK.read().format("bsdb").load())
        .hasMessageContaining("the path is missing");
    assertThatThrownBy(() -> reader().option("keytyp", "string").load(directory.toString()))
        .hasMessageContaining("unknown option keytyp, did you mean keyType?");
    assertThatThrownBy(() -> reader().option("keyType", "text").load(directory.toString()))
        .hasMessageContaining("keyType is text, not one of binary, string");
    Path file = directory.resolve("file");
    Files.write(file, "x".getBytes(UTF_8));
    assertThatThrownBy(() -> read(file)).hasMessageContaining("file: is a file");
  }

  @Test
  void aValueThatIsNotARowOfItsSchemaIsAnError() throws Exception {
    String schema =
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"x\",\"type\":\"string\"}]}";
    Path database =
        Stored.plain(directory.resolve("db"), 3, BuildOptions.defaults().withValueSchema(schema));
    Dataset<Row> table = SPARK.read().format("bsdb").load(database.toString());
    assertThatThrownBy(table::collectAsList)
        .hasMessageMatching("(?s).*the value of key \"k[0-2]\" cannot be read as a row.*");
    assertThat(table.select("_key").collectAsList()).hasSize(3);
  }

  @Test
  void severalPathsAreReadOneByOne() throws Exception {
    String path = store().toString();
    assertThatThrownBy(() -> reader().load(path, path))
        .hasMessageStartingWith("load takes one path, not several")
        .hasMessageContaining("a.union(b)");
    assertThat(read(path).union(read(path)).count()).isEqualTo(20);
  }

  @Test
  void aFileSystemThatCannotBeReachedIsExplainedForSpark() {
    assertThatThrownBy(() -> read("unknown://bucket/store"))
        .hasMessageContaining("no file system for unknown:")
        .hasMessageContaining("on the class path (--packages or --jars)")
        .hasMessageNotContaining("BSDB_");
    assertThatThrownBy(() -> read("hdfs:///stores/users"))
        .hasMessageContaining(
            "write hdfs://HOST/PATH, or name one with .option(\"fs.defaultFS\", \"hdfs://HOST\")");
  }
}
